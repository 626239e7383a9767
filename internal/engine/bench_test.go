package engine_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// BenchmarkEvents measures an event from the generator to the log.
func BenchmarkEvents(b *testing.B) {
	p := newPhoton("burst", func(_ context.Context, yield generators.Yield) (any, error) {
		for range 100_000 {
			yield(generators.Status("again and again"))
		}
		return nil, nil
	}, nil)
	e := newTestEngine(b, p)
	b.ReportAllocs()
	for b.Loop() {
		id := e.startRun("burst", "")
		e.waitForEntry(id, 0, runlog.KindFinished)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/event")
}

// BenchmarkAskRoundTrip measures a run with one question, from start to end.
func BenchmarkAskRoundTrip(b *testing.B) {
	e := newTestEngine(b, greeter)
	b.ReportAllocs()
	for b.Loop() {
		id := e.startRun("greeter", "")
		askID, seq := e.waitForAsk(id, 0)
		e.acceptAsk(askID, `{"name":"Ada"}`)
		e.waitForEntry(id, seq, runlog.KindFinished)
	}
}

// BenchmarkWaiting measures the memory of a run that waits for an answer: Go
// heap and stacks, and the process's resident memory.
func BenchmarkWaiting(b *testing.B) {
	const runs = 10_000
	for b.Loop() {
		memory, resident := measureWaitingRuns(b, runs)
		b.ReportMetric(float64(memory)/runs, "B/run")
		b.ReportMetric(float64(resident)/runs, "RSS-B/run")
	}
}

// measureWaitingRuns starts runs that wait for an answer. It returns by how many bytes
// the memory in use and the resident memory have grown.
func measureWaitingRuns(t testing.TB, runs int) (memory, resident int64) {
	p := newPhoton("waiter", func(_ context.Context, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	e := newTestEngine(t, p)
	memory, resident = memoryUsed()
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = e.startRun("waiter", "")
	}
	for _, id := range ids {
		e.waitForAsk(id, 0)
	}
	memoryNow, residentNow := memoryUsed()
	if n := e.CountOpenAsks(me); n != runs {
		t.Fatalf("%d of %d wait", n, runs)
	}
	e.closeNow()
	return memoryNow - memory, residentNow - resident
}

// memoryUsed returns the bytes in use after garbage collection and the
// process's resident memory, which is 0 if the system doesn't report it.
func memoryUsed() (memory, resident int64) {
	for range 3 { // each collection halves a stack
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var size int64
	if f, err := os.Open("/proc/self/statm"); err == nil {
		_, _ = fmt.Fscan(f, &size, &resident)
		f.Close()
	}
	return int64(m.HeapInuse + m.StackInuse), resident * int64(os.Getpagesize())
}
