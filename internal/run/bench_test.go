package run_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// BenchmarkEvents is the cost of an event from the generator into the log.
func BenchmarkEvents(b *testing.B) {
	p := photon("burst", func(_ context.Context, yield generators.Yield) (any, error) {
		for range 100_000 {
			yield(generators.Status("again and again"))
		}
		return nil, nil
	}, nil)
	e := newBench(b, p)
	b.ReportAllocs()
	for b.Loop() {
		id := e.start("burst", "")
		e.until(id, 0, log.KindFinished)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/event")
}

// BenchmarkAskRoundTrip is a run with one question, from its start to its end.
func BenchmarkAskRoundTrip(b *testing.B) {
	e := newBench(b, greeter)
	b.ReportAllocs()
	for b.Loop() {
		id := e.start("greeter", "")
		askID, seq := e.asked(id, 0)
		e.accept(askID, `{"name":"Ada"}`)
		e.until(id, seq, log.KindFinished)
	}
}

// BenchmarkWaiting is what a run costs while it waits for an answer: of the Go
// heap and the stacks, and of the process's resident memory.
func BenchmarkWaiting(b *testing.B) {
	const runs = 10_000
	for b.Loop() {
		memory, resident := wait(b, runs)
		b.ReportMetric(float64(memory)/runs, "B/run")
		b.ReportMetric(float64(resident)/runs, "RSS-B/run")
	}
}

// wait starts runs that wait for an answer, and returns how much more memory
// there is in use, and how much more the process has.
func wait(t testing.TB, runs int) (memory, resident int64) {
	p := photon("waiter", func(_ context.Context, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	e := newBench(t, p)
	memory, resident = used()
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = e.start("waiter", "")
	}
	for _, id := range ids {
		e.asked(id, 0)
	}
	memoryNow, residentNow := used()
	if n := e.OpenAsks(me); n != runs {
		t.Fatalf("%d of %d wait", n, runs)
	}
	e.close()
	return memoryNow - memory, residentNow - resident
}

// used is the memory in use once the garbage is gone, and the process's resident
// memory, which is 0 where the system doesn't tell.
func used() (memory, resident int64) {
	for range 3 { // a stack shrinks by half at each
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
