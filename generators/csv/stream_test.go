package csv_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/csv"
	"github.com/photon-beam/beam/generators/internal/photontest"
)

// runReader runs the photon with a file that is generated while it is read.
func runReader(t testing.TB, open func() (io.ReadCloser, error), size int64, second photontest.Response) *photontest.Outcome {
	t.Helper()
	runner := photontest.Runner{
		Script: photontest.Script{
			"file":    photontest.Upload(ask.FileRef{Name: "data.csv", MediaType: "text/csv", Size: size, Digest: "d"}),
			"summary": second,
		},
		Open: func(string) (io.ReadCloser, error) { return open() },
	}
	return runner.Run(t, csv.Photon, "{}")
}

const (
	streamHeader = "date,country,product,amount,note\n"
	streamRows   = "2026-01-05,DE,lamp,10.10,an ordinary note\n2026-01-06,FR,\"chair, red\",20.20,\n2026-01-07,IT,table,1204.5,\"two\nlines\"\n"
)

// newStream returns a file with streamRows repeated so many times.
func newStream(times int) io.ReadCloser {
	block := strings.Repeat(streamRows, 1000)
	parts := []io.Reader{strings.NewReader(streamHeader)}
	for range times / 1000 {
		parts = append(parts, strings.NewReader(block))
	}
	parts = append(parts, strings.NewReader(strings.Repeat(streamRows, times%1000)))
	return io.NopCloser(io.MultiReader(parts...))
}

func streamSize(times int) int64 { return int64(len(streamHeader) + times*len(streamRows)) }

func TestHundredMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB twice")
	}
	const times = 100 << 20 / len(streamRows)
	var peak uint64
	recordHeapSize := func(e generators.Event) {
		if _, ok := e.(*generators.ProgressEvent); ok {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	runner := photontest.Runner{
		Script: photontest.Script{
			"file":    photontest.Upload(ask.FileRef{Name: "data.csv", MediaType: "text/csv", Size: streamSize(times), Digest: "d"}),
			"summary": chooseColumns("sum", "country", "amount"),
		},
		Open:    func(string) (io.ReadCloser, error) { return newStream(times), nil },
		OnEvent: recordHeapSize,
	}
	p := runner.Run(t, csv.Photon, "{}")
	got := photontest.Decode[csv.Summary](t, p)
	if got.Rows != 3*times {
		t.Errorf("%d rows, want %d", got.Rows, 3*times)
	}
	if v := got.Values[0]; v.Group != "DE" || v.Value != float64(times)*101/10 {
		t.Errorf("got %v, want the sum %v for DE", v, float64(times)*101/10)
	}
	const most = 64 << 20
	if peak > most {
		t.Errorf("the heap grew to %d MB, want at most %d", peak>>20, most>>20)
	}
	t.Logf("the heap grew to %d MB", peak>>20)
	checkProgress(t, p, float64(streamSize(times)))
}

// checkProgress checks that the progress reaches the file's size twice, in about a
// hundred steps each time.
func checkProgress(t *testing.T, p *photontest.Outcome, total float64) {
	t.Helper()
	var events, passes int
	last := 0.0
	for _, e := range p.Events {
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
	for name, response := range map[string]photontest.Response{
		"survey": photontest.Decline(), // the first pass only
		"total":  chooseColumns("sum", "", "amount"),
		"groups": chooseColumns("sum", "country", "amount"),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(streamSize(times))
			b.ReportAllocs()
			for b.Loop() {
				runReader(b, func() (io.ReadCloser, error) { return newStream(times), nil }, streamSize(times), response)
			}
		})
	}
}
