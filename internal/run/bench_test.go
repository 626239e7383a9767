package run_test

import (
	"context"
	"fmt"
	"runtime"
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

// BenchmarkWaiting is what a run costs while it waits for an answer.
func BenchmarkWaiting(b *testing.B) {
	p := photon("waiter", func(_ context.Context, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	const runs = 10_000
	for b.Loop() {
		e := newBench(b, p)
		before := resident()
		ids := make([]string, runs)
		for i := range ids {
			ids[i] = e.start("waiter", "")
		}
		for _, id := range ids {
			e.asked(id, 0)
		}
		after := resident()
		b.ReportMetric(float64(after-before)/runs, "B/run")
		if n := e.OpenAsks(me); n != runs {
			b.Fatal(fmt.Errorf("%d of %d wait", n, runs))
		}
		e.close()
	}
}

func resident() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
