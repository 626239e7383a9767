package metrics_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// BenchmarkAsk measures an ask with and without metrics.
func BenchmarkEvents(b *testing.B) {
	const events = 100_000
	burst := generators.New("burst", func(_ context.Context, _ none, yield generators.Yield) (none, error) {
		for range events {
			yield(generators.Status("again and again"))
		}
		return none{}, nil
	}, nil)
	benchmarkWithAndWithout(b, burst, func(e *engine.Engine) {
		followToEnd(b, e, startRun(b, e, "burst"))
	})
}

func BenchmarkAsk(b *testing.B) {
	question := generators.New("question", func(_ context.Context, _ none, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	benchmarkWithAndWithout(b, question, func(e *engine.Engine) {
		id := startRun(b, e, "question")
		batches, err := e.Follow(b.Context(), me, id, 0)
		if err != nil {
			b.Fatal(err)
		}
		for batch := range batches {
			for _, entry := range batch {
				if entry.Kind == runlog.KindAsked {
					a := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"go":true}`)}
					if err := e.Answer(b.Context(), me, runlog.AskID(id, entry.Seq), a, "http"); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

// BenchmarkScrape measures a scrape with a number of open questions.
func BenchmarkScrape(b *testing.B) {
	question := generators.New("question", func(_ context.Context, _ none, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	for _, open := range []int{1, 10_000} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			m := metrics.New("test")
			e := newEngine(b, m, question)
			m.RegisterEngine(e)
			for range open {
				startRun(b, e, "question")
			}
			s := &testMetrics{Metrics: m, t: b}
			b.ReportAllocs()
			for b.Loop() {
				s.scrape()
			}
		})
	}
}

func benchmarkWithAndWithout(b *testing.B, p *generators.Photon, one func(*engine.Engine)) {
	for name, m := range map[string]engine.Meter{"without": nil, "with": metrics.New("test")} {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b, m, p)
			b.ReportAllocs()
			for b.Loop() {
				one(e)
			}
		})
	}
}

func newEngine(b *testing.B, m engine.Meter, p *generators.Photon) *engine.Engine {
	b.Helper()
	registry, err := registry.NewRegistry(p)
	if err != nil {
		b.Fatal(err)
	}
	blobs, err := blob.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Meter: m})
	b.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e.Close(ctx)
		blobs.Close()
	})
	return e
}

func startRun(b *testing.B, e *engine.Engine, photon string) string {
	b.Helper()
	info, err := e.Start(b.Context(), me, engine.StartRequest{Photon: photon, Surface: "http"})
	if err != nil {
		b.Fatal(err)
	}
	return info.ID
}

func followToEnd(b *testing.B, e *engine.Engine, id string) {
	b.Helper()
	batches, err := e.Follow(b.Context(), me, id, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, err := range batches {
		if err != nil {
			b.Fatal(err)
		}
	}
}
