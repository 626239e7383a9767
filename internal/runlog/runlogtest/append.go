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

// testOrdinals checks that each run has the ordinals 1, 2, 3 and so on, whatever the
// size of the appends.
func testOrdinals(t *testing.T, l runlog.Log) {
	a, b := newRunID(), newRunID()
	appendNumbered(t, l, a, 0, 10, 1)
	appendNumbered(t, l, b, 0, 3, 2)
	appendNumbered(t, l, a, 10, 40, 7)
	for run, want := range map[string]int{a: 40, b: 3} {
		all := readAll(t, l, run, 0)
		if len(all) != want {
			t.Errorf("the run has %d entries, want %d", len(all), want)
		}
		checkNumbers(t, all)
	}
}

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

// testConflict checks that an append with a wrong ordinal adds nothing, and that the
// error contains the last ordinal.
func testConflict(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 3, 3)
	for _, after := range []uint64{0, 1, 2, 4, 1 << 40} {
		_, err := l.Append(t.Context(), run, after, numberedEntries(1, 5)...)
		if c := asConflict(t, err); c.Run != run || c.After != after || c.Last != 3 {
			t.Errorf("after %d: %+v", after, c)
		}
	}
	if n := len(readAll(t, l, run, 0)); n != 3 {
		t.Errorf("the run has %d entries, want 3", n)
	}
	if _, err := l.Append(t.Context(), newRunID(), 5, numberedEntry(1)); err == nil {
		t.Error("a run begins with its sixth entry")
	}
	mustAppend(t, l, run, 3, numberedEntry(4))
}

// testOneAppendWins checks that exactly one of several concurrent appends after the
// same entry succeeds, and that the errors of the others contain the last ordinal.
func testOneAppendWins(t *testing.T, l runlog.Log) {
	const writers, rounds = 8, 10
	run := newRunID()
	var mu sync.Mutex
	wins := make(map[uint64]int)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			after := uint64(0)
			for range rounds {
				for {
					last, err := l.Append(t.Context(), run, after, runlog.Entry{Kind: "status", Data: fmt.Appendf(nil, `{"w":%d}`, w)})
					if err == nil {
						mu.Lock()
						wins[last]++
						mu.Unlock()
						after = last
						break
					}
					c := asConflict(t, err)
					if c.After != after || c.Last <= after {
						t.Errorf("writer %d lost: %+v", w, c)
						return
					}
					after = c.Last
				}
			}
		})
	}
	wg.Wait()
	if n := len(readAll(t, l, run, 0)); n != writers*rounds || len(wins) != writers*rounds {
		t.Errorf("%d entries, %d ordinals won, want %d", n, len(wins), writers*rounds)
	}
	for seq, n := range wins {
		if n != 1 {
			t.Errorf("entry %d was won by %d writers", seq, n)
		}
	}
}

// testWholeBatches checks that the entries of one append are adjacent.
func testWholeBatches(t *testing.T, l runlog.Log) {
	const writers, rounds, size = 4, 8, 25
	run := newRunID()
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
					if after = asConflict(t, err).Last; after == 0 {
						return
					}
					continue
				}
				after = last
				r++
			}
		})
	}
	wg.Wait()
	got := readAll(t, l, run, 0)
	if len(got) != writers*rounds*size {
		t.Fatalf("%d entries, want %d", len(got), writers*rounds*size)
	}
	for i := 0; i < len(got); i += size {
		var w, r, n int
		if _, err := fmt.Sscanf(string(got[i].Data), "[%d,%d,%d]", &w, &r, &n); err != nil || n != 0 {
			t.Fatalf("a batch begins with %s (%v)", got[i].Data, err)
		}
		for j := range size {
			if want := fmt.Sprintf(`[%d,%d,%d]`, w, r, j); string(got[i+j].Data) != want {
				t.Fatalf("entry %d is %s, want %s", i+j+1, got[i+j].Data, want)
			}
		}
	}
}

// testAppendNothing checks that appending no entries doesn't start a run.
func testAppendNothing(t *testing.T, l runlog.Log) {
	run := newRunID()
	if last, err := l.Append(t.Context(), run, 0); err != nil || last != 0 {
		t.Errorf("nothing after nothing: %d, %v", last, err)
	}
	for batch, err := range l.Follow(testContext(t), run, 0) {
		if err != runlog.ErrNotFound {
			t.Errorf("the run exists: %v, %v", batch, err)
		}
		break
	}
	appendNumbered(t, l, run, 0, 2, 2)
	if last, err := l.Append(t.Context(), run, 2); err != nil || last != 2 {
		t.Errorf("nothing after 2: %d, %v", last, err)
	}
}
