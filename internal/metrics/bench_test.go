package metrics_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/run"
)

// What metrics cost: the same with and without.
func BenchmarkEvents(b *testing.B) {
	const events = 100_000
	burst := generators.New("burst", func(_ context.Context, _ none, yield generators.Yield) (none, error) {
		for range events {
			yield(generators.Status("again and again"))
		}
		return none{}, nil
	}, nil)
	eachWay(b, burst, func(e *run.Engine) {
		follow(b, e, start(b, e, "burst"))
	})
}

func BenchmarkAsk(b *testing.B) {
	question := generators.New("question", func(_ context.Context, _ none, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	eachWay(b, question, func(e *run.Engine) {
		id := start(b, e, "question")
		batches, err := e.Follow(b.Context(), me, id, 0)
		if err != nil {
			b.Fatal(err)
		}
		for batch := range batches {
			for _, entry := range batch {
				if entry.Kind == log.KindAsked {
					a := ask.Answer{Action: ask.Accept, Content: []byte(`{"go":true}`)}
					if err := e.Answer(b.Context(), me, log.AskID(id, entry.Seq), a, "http"); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

// BenchmarkScrape is a scrape while so many questions are open.
func BenchmarkScrape(b *testing.B) {
	question := generators.New("question", func(_ context.Context, _ none, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Go on?")
	}, nil)
	for _, open := range []int{1, 10_000} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			m := metrics.New("test")
			e := engine(b, m, question)
			m.Watch(e)
			for range open {
				start(b, e, "question")
			}
			s := &bench{Metrics: m, t: b}
			b.ReportAllocs()
			for b.Loop() {
				s.scrape()
			}
		})
	}
}

func eachWay(b *testing.B, p *generators.Photon, one func(*run.Engine)) {
	for name, m := range map[string]run.Meter{"without": nil, "with": metrics.New("test")} {
		b.Run(name, func(b *testing.B) {
			e := engine(b, m, p)
			b.ReportAllocs()
			for b.Loop() {
				one(e)
			}
		})
	}
}

func engine(b *testing.B, m run.Meter, p *generators.Photon) *run.Engine {
	b.Helper()
	registry, err := generators.NewRegistry(p)
	if err != nil {
		b.Fatal(err)
	}
	blobs, err := blob.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	e := run.New(run.Options{Photons: registry, Log: log.NewMemory(), Blobs: blobs, Meter: m})
	b.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e.Close(ctx)
		blobs.Close()
	})
	return e
}

func start(b *testing.B, e *run.Engine, photon string) string {
	b.Helper()
	info, err := e.Start(b.Context(), me, run.Request{Photon: photon, Surface: "http"})
	if err != nil {
		b.Fatal(err)
	}
	return info.ID
}

func follow(b *testing.B, e *run.Engine, id string) {
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
