package engine_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

var me = generators.Caller{ID: "session:me"}

type none = struct{}

// newPhoton returns a photon for a generator without input.
func newPhoton[Out any](name string, fn func(context.Context, generators.Yield) (Out, error), o *generators.Options) *generators.Photon {
	return generators.New(name, func(ctx context.Context, _ none, yield generators.Yield) (Out, error) { return fn(ctx, yield) }, o)
}

// A testEngine is an engine with a log that can outlive it.
type testEngine struct {
	*engine.Engine
	t     testing.TB
	log   runlog.Log
	blobs *blob.Store
}

// newTestLog returns the log that the tests' engines use.
var newTestLog = func() runlog.Log { return runlog.NewMemory() }

func testOptions(t testing.TB, photons ...*generators.Photon) engine.Options {
	t.Helper()
	registry, err := registry.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return engine.Options{
		Photons: registry, Log: newTestLog(), Blobs: blobs, Logger: slog.New(slog.DiscardHandler),
		Program: func() string { return "this program" },
		Limits:  engine.Limits{Working: budget.Limit{Each: 50_000, All: 100_000}}, // tests start faster than people
	}
}

func openTestEngine(t testing.TB, o engine.Options) *testEngine {
	t.Helper()
	e := engine.New(o)
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := &testEngine{Engine: e, t: t, log: o.Log, blobs: o.Blobs}
	t.Cleanup(b.closeNow)
	return b
}

func newTestEngine(t testing.TB, photons ...*generators.Photon) *testEngine {
	t.Helper()
	return openTestEngine(t, testOptions(t, photons...))
}

// closeNow closes the engine without waiting for runs that work. Close gives generators two
// seconds to return; on a busy machine, they get more here.
func (b *testEngine) closeNow() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var err error
	if !programtest.Poll(func() bool { err = b.Close(ctx); return err == nil }) {
		b.t.Error(err)
	}
}

func (b *testEngine) startRun(photon, args string) string {
	b.t.Helper()
	info, err := b.Start(b.t.Context(), me, engine.StartRequest{Photon: photon, Args: json.RawMessage(args), Surface: "test"})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// waitForEntry follows a run to its first entry of a kind after an ordinal. It
// fails the test if there is none.
func (b *testEngine) waitForEntry(id string, after uint64, kind runlog.Kind) runlog.Entry {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), programtest.WaitTimeout)
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

// waitForAsk waits for the next question and returns its id and ordinal.
func (b *testEngine) waitForAsk(id string, after uint64) (string, uint64) {
	b.t.Helper()
	e := b.waitForEntry(id, after, runlog.KindAsked)
	return runlog.AskID(id, e.Seq), e.Seq
}

func (b *testEngine) acceptAsk(askID, content string) {
	b.t.Helper()
	a := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
	if err := b.Answer(b.t.Context(), me, askID, a, "test"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *testEngine) waitForEnd(id string) runlog.Finished {
	b.t.Helper()
	f, err := runlog.Decode[runlog.Finished](b.waitForEntry(id, 0, runlog.KindFinished))
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// waitForParked waits until a run is parked.
func (b *testEngine) waitForParked(id string) runlog.Parked {
	b.t.Helper()
	p, err := runlog.Decode[runlog.Parked](b.waitForEntry(id, 0, runlog.KindParked))
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// entries returns all entries of a run.
func (b *testEngine) entries(id string) []runlog.Entry {
	b.t.Helper()
	var all []runlog.Entry
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

func kindsOf(entries []runlog.Entry) []runlog.Kind {
	list := make([]runlog.Kind, len(entries))
	for i, e := range entries {
		list[i] = e.Kind
	}
	return list
}

// funcWaiter is an engine.Waiter that calls the function.
type funcWaiter func()

func (w funcWaiter) Wake() { w() }
