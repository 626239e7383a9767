package run_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/run"
)

var me = run.Caller{"session:me"}

type none = struct{}

// photon makes a photon of a generator without input.
func photon[Out any](name string, fn func(context.Context, generators.Yield) (Out, error), o *generators.Options) *generators.Photon {
	return generators.New(name, func(ctx context.Context, _ none, yield generators.Yield) (Out, error) { return fn(ctx, yield) }, o)
}

// bench is an engine over a log that can outlive it.
type bench struct {
	*run.Engine
	t     testing.TB
	log   log.Log
	blobs *blob.Store
}

// newLog is what the engines of the tests write to.
var newLog = func() log.Log { return log.NewMemory() }

func options(t testing.TB, photons ...*generators.Photon) run.Options {
	t.Helper()
	registry, err := generators.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return run.Options{Photons: registry, Log: newLog(), Blobs: blobs, Logger: slog.New(slog.DiscardHandler)}
}

func open(t testing.TB, o run.Options) *bench {
	t.Helper()
	e := run.New(o)
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := &bench{Engine: e, t: t, log: o.Log, blobs: o.Blobs}
	t.Cleanup(b.close)
	return b
}

func newBench(t testing.TB, photons ...*generators.Photon) *bench {
	t.Helper()
	return open(t, options(t, photons...))
}

func (b *bench) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) start(photon, args string) string {
	b.t.Helper()
	info, err := b.Start(b.t.Context(), me, run.Request{Photon: photon, Args: json.RawMessage(args), Surface: "test"})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// until follows a run to the first entry of a kind that comes after an
// ordinal, and fails the test if there is none.
func (b *bench) until(id string, after uint64, kind log.Kind) log.Entry {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	batches, err := b.Follow(ctx, me, id, after)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatalf("waiting for %s: %v", kind, err)
		}
		for _, e := range batch {
			if e.Kind == kind {
				return e
			}
		}
	}
	b.t.Fatalf("the run ended without a %s entry", kind)
	panic("unreachable")
}

// asked waits for the next question and returns its id.
func (b *bench) asked(id string, after uint64) (string, uint64) {
	b.t.Helper()
	e := b.until(id, after, log.KindAsked)
	return log.AskID(id, e.Seq), e.Seq
}

func (b *bench) accept(askID, content string) {
	b.t.Helper()
	a := ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}
	if err := b.Answer(b.t.Context(), me, askID, a, "test"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) finished(id string) log.Finished {
	b.t.Helper()
	f, err := log.As[log.Finished](b.until(id, 0, log.KindFinished))
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// entries are all entries of a run.
func (b *bench) entries(id string) []log.Entry {
	b.t.Helper()
	var all []log.Entry
	for batch, err := range b.log.Read(b.t.Context(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, batch...)
	}
	for i, e := range all {
		if e.Seq != uint64(i+1) {
			b.t.Fatalf("entry %d has the ordinal %d", i+1, e.Seq)
		}
	}
	return all
}

func kinds(entries []log.Entry) []log.Kind {
	list := make([]log.Kind, len(entries))
	for i, e := range entries {
		list[i] = e.Kind
	}
	return list
}
