package csv_test

import (
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/internal/driver"
)

const (
	streamHeader = "date,country,product,amount,note\n"
	streamRows   = "2026-01-05,DE,lamp,10.10,an ordinary note\n2026-01-06,FR,\"chair, red\",20.20,\n2026-01-07,IT,table,1204.5,\"two\nlines\"\n"
)

// newStream returns a file with streamRows repeated so many times.
func newStream(times int) io.Reader {
	block := strings.Repeat(streamRows, 1000)
	parts := []io.Reader{strings.NewReader(streamHeader)}
	for range times / 1000 {
		parts = append(parts, strings.NewReader(block))
	}
	parts = append(parts, strings.NewReader(strings.Repeat(streamRows, times%1000)))
	return io.MultiReader(parts...)
}

// streamReply returns the reply that uploads newStream.
func streamReply(times int) driver.Reply {
	return fileReply(streamSize(times), func() (io.ReadCloser, error) { return io.NopCloser(newStream(times)), nil })
}

func streamSize(times int) int64 { return int64(len(streamHeader) + times*len(streamRows)) }

func TestHundredMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB twice")
	}
	const times = 100 << 20 / len(streamRows)
	runtime.GC() // of what other tests left
	var peak uint64
	var events []generators.Event
	raw, err := runWithReplies(t, streamReply(times), driver.Reply{Value: json.RawMessage(`{"columns":["amount"],"summary":"sum","groupBy":"country"}`)}, func(e generators.Event) {
		if events = append(events, e); len(events)%2 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got csv.Exploration
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Rows != 3*times {
		t.Errorf("%d rows, want %d", got.Rows, 3*times)
	}
	if v := got.Views[0]; v.SmallestGroup != "DE" || *v.SmallestValue != float64(times)*101/10 {
		t.Errorf("got %+v, want the sum %v for DE", v, float64(times)*101/10)
	}
	const most = 64 << 20
	if peak > most {
		t.Errorf("the heap grew to %d MB, want at most %d", peak>>20, most>>20)
	}
	t.Logf("the heap grew to %d MB", peak>>20)
	checkProgress(t, events, float64(streamSize(times)))
}

// checkProgress checks that the progress reaches the file's size twice, in about a
// hundred steps each time.
func checkProgress(t *testing.T, all []generators.Event, total float64) {
	t.Helper()
	var events, passes int
	last := 0.0
	for _, e := range all {
		if e, ok := e.(*generators.ProgressEvent); ok {
			events++
			if e.Total != total {
				t.Fatalf("progress is %v of %v, want a total of %v", e.Done, e.Total, total)
			}
			if e.Done < last && last != total {
				t.Errorf("progress fell from %v to %v", last, e.Done)
			}
			if last = e.Done; e.Done == total {
				passes++
			}
		}
	}
	if passes != 2 || events < 100 || events > 210 {
		t.Errorf("%d progress events in %d passes, want about 200 in 2", events, passes)
	}
}

func BenchmarkCSV(b *testing.B) {
	const times = 8 << 20 / len(streamRows)
	for name, second := range map[string]driver.Reply{
		"survey": {Err: ask.ErrDeclined}, // the first pass only
		"total":  {Value: json.RawMessage(`{"columns":["amount"],"summary":"sum"}`)},
		"groups": {Value: json.RawMessage(`{"columns":["amount"],"summary":"sum","groupBy":"country"}`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(streamSize(times))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := runWithReplies(b, streamReply(times), second, func(generators.Event) {}); err != nil && !errors.Is(err, ask.ErrDeclined) {
					b.Fatal(err)
				}
			}
		})
	}
}
