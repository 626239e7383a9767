package runlogtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// testContentUnchanged checks that entries are read as they were appended, and that a
// missing time is set.
func testContentUnchanged(t *testing.T, l runlog.Log) {
	run := newRunID()
	at := time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.FixedZone("", 7200))
	given := []runlog.Entry{
		runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "o", Args: json.RawMessage(`{"a":"<ü>\u0000"}`)}),
		{Kind: "status", Time: at, Data: json.RawMessage(` { "text" : 1.50 } `)},
		{Kind: "artifact", Blob: "sha256:abc"},
		{Kind: "chunk", Data: json.RawMessage(`"` + strings.Repeat("x", runlog.MaxEntryData-2) + `"`)},
		{Kind: "status", Seq: 99, Data: json.RawMessage("null")},
		{Kind: "chunk", Goroutine: "2.1", Step: "fetch", Data: json.RawMessage(`"x"`)},
	}
	before := time.Now().Add(-time.Second)
	mustAppend(t, l, run, 0, given...)
	got := readAll(t, l, run, 0)
	if len(got) != len(given) {
		t.Fatalf("%d entries of %d", len(got), len(given))
	}
	for i, e := range got {
		if e.Kind != given[i].Kind || e.Blob != given[i].Blob || !sameJSON(e.Data, given[i].Data) || e.Goroutine != given[i].Goroutine || e.Step != given[i].Step {
			t.Errorf("entry %d: %s %s %.100s", i+1, e.Kind, e.Blob, e.Data)
		}
		if i != 1 && (e.Time.Before(before) || e.Time.After(time.Now().Add(time.Second))) {
			t.Errorf("entry %d: its time is %v", i+1, e.Time)
		}
	}
	if !got[1].Time.Equal(at) {
		t.Errorf("the time became %v, want %v", got[1].Time, at)
	}
	if s, err := runlog.Decode[runlog.Started](got[0]); err != nil || s.Owner != "o" {
		t.Errorf("started: %+v, %v", s, err)
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// testImmutable checks that writes to the caller's slices don't affect the log.
func testImmutable(t *testing.T, l runlog.Log) {
	run := newRunID()
	mine := numberedEntries(1, 3)
	mustAppend(t, l, run, 0, mine...)
	for i := range mine {
		copy(mine[i].Data, `{"n":9}`)
		mine[i].Kind = "toast"
	}
	for batch, err := range l.Read(testContext(t), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Clone(batch)
		appendNumbered(t, l, run, 3, 4, 1)
		_ = append(batch, numberedEntry(7)) // a reader may append to a batch
		appendNumbered(t, l, run, 4, 6, 1)
		checkNumbers(t, kept)
	}
	checkNumbers(t, readAll(t, l, run, 0))
}

// testConcurrentAppends checks that exactly one of several concurrent appends after the same entry
// succeeds, that the errors of the others have the last ordinal, and that the entries of an append
// are adjacent.
func testConcurrentAppends(t *testing.T, l runlog.Log) {
	const writers, rounds, size = 8, 10, 25
	run := newRunID()
	var mu sync.Mutex
	wins := make(map[uint64]string) // what was appended, by the last ordinal
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			after := uint64(0)
			for r := 0; r < rounds; {
				batch := make([]runlog.Entry, size)
				for i := range batch {
					batch[i] = runlog.Entry{Kind: "status", Data: fmt.Appendf(nil, `[%d,%d,%d]`, w, r, i)}
				}
				last, err := l.Append(t.Context(), run, after, batch...)
				if err != nil {
					c := asConflict(t, err)
					if c.After != after || c.Last <= after {
						t.Errorf("writer %d lost: %+v", w, c)
						return
					}
					after = c.Last
					continue
				}
				mu.Lock()
				if wins[last] != "" {
					t.Errorf("entry %d was won by %s, too", last, wins[last])
				}
				wins[last] = fmt.Sprintf("[%d,%d,", w, r)
				mu.Unlock()
				after = last
				r++
			}
		})
	}
	wg.Wait()
	got := readAll(t, l, run, 0)
	if len(got) != writers*rounds*size || len(wins) != writers*rounds {
		t.Fatalf("%d entries of %d appends, want %d of %d", len(got), len(wins), writers*rounds*size, writers*rounds)
	}
	for i, e := range got {
		if want := fmt.Sprintf("%s%d]", wins[uint64(i/size+1)*size], i%size); string(e.Data) != want {
			t.Fatalf("entry %d is %s, want %s", i+1, e.Data, want)
		}
	}
}
