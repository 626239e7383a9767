package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

type deployment struct {
	Env  string `json:"env"`
	Then string `json:"then,omitempty"`
}

// newDeployPhoton returns a photon of which one run for each environment works at a time.
// It asks, and then does what its input says.
func newDeployPhoton(durable bool) *generators.Photon {
	return generators.New("deploy", func(_ context.Context, in deployment, yield generators.Yield) (string, error) {
		name, err := ask.Text(yield, "name", "Name?")
		switch {
		case err != nil:
			return "", err
		case in.Then == "panic":
			panic("no")
		case in.Then == "fail":
			return "", errors.New("no")
		}
		return name, nil
	}, &generators.Options{Durable: durable, Exclusive: func(in deployment) string { return in.Env }})
}

// onEveryLog runs a test with each implementation of a log. reopen closes the engine's
// log and opens it again, as the next process does.
func onEveryLog(t *testing.T, test func(t *testing.T, o engine.Options, reopen func() runlog.Log)) {
	t.Run("memory", func(t *testing.T) {
		o := testOptions(t, newDeployPhoton(true))
		test(t, o, func() runlog.Log { return o.Log })
	})
	t.Run("SQLite", func(t *testing.T) {
		o := testOptions(t, newDeployPhoton(true))
		dir := t.TempDir()
		var open *store.Store
		reopen := func() runlog.Log {
			if open != nil {
				open.Close()
			}
			l, err := store.Open(context.Background(), store.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			open = l
			return l
		}
		t.Cleanup(func() { open.Close() })
		o.Log = reopen()
		test(t, o, reopen)
	})
}

// checkQueued checks that a run waits for another one.
func (b *testEngine) checkQueued(id string) {
	b.t.Helper()
	i := b.state(id)
	if i.State != engine.Running || i.QueuedFor != "prod" || i.Pause() != `Waits for another run with the key "prod"` {
		b.t.Errorf("the run is %s, queued for %q: %s", i.State, i.QueuedFor, i.Pause())
	}
	if got := kindsOf(b.entries(id)); !slices.Equal(got, []runlog.Kind{"started", "queued"}) {
		b.t.Errorf("log = %v", got)
	}
}

// Of the runs with a key, one works at a time, in the order of their start, whoever
// started them. Others don't wait. The next one begins when one ends, however it does.
func TestRunsWithAKeyQueue(t *testing.T) {
	onEveryLog(t, func(t *testing.T, o engine.Options, _ func() runlog.Log) {
		b := openTestEngine(t, o)
		start := func(who generators.Caller, args string) string {
			info, err := b.Start(t.Context(), who, engine.StartRequest{Photon: "deploy", Args: []byte(args), Surface: "test"})
			if err != nil {
				t.Fatal(err)
			}
			return info.ID
		}
		first := b.startRun("deploy", `{"env":"prod","then":"panic"}`)
		askID, _ := b.waitForAsk(first, 0)
		second := b.startRun("deploy", `{"env":"prod","then":"fail"}`)
		theirs := start(generators.Caller{ID: "other"}, `{"env":"prod"}`)
		stopped := b.startRun("deploy", `{"env":"prod"}`)
		last := b.startRun("deploy", `{"env":"prod"}`)
		for _, id := range []string{second, stopped, last} {
			b.checkQueued(id)
		}
		for _, args := range []string{`{"env":"dev"}`, `{"env":""}`, `{"env":""}`} {
			b.waitForAsk(b.startRun("deploy", args), 0)
		}
		if err := b.Cancel(t.Context(), me, stopped, "browser"); err != nil { // while it is queued
			t.Fatal(err)
		}
		if f := b.waitForEnd(stopped); f.Status != runlog.Stopped {
			t.Errorf("finished = %+v", f)
		}
		b.acceptAsk(askID, `{"name":"a"}`)
		if f := b.waitForEnd(first); f.Status != runlog.Failed {
			t.Errorf("finished = %+v", f)
		}
		askID, _ = b.waitForAsk(second, 0)
		b.checkQueued(last)
		if i := b.state(second); i.QueuedFor != "" {
			t.Errorf("the second run is still queued for %q", i.QueuedFor)
		}
		b.acceptAsk(askID, `{"name":"b"}`)
		b.waitForInbox(generators.Caller{ID: "other"})
		b.checkQueued(last)
		if err := b.Cancel(t.Context(), generators.Caller{ID: "other"}, theirs, "browser"); err != nil {
			t.Fatal(err)
		}
		askID, _ = b.waitForAsk(last, 0)
		b.acceptAsk(askID, `{"name":"c"}`)
		if f := b.waitForEnd(last); string(f.Result) != `"c"` {
			t.Errorf("finished = %+v", f)
		}
	})
}

// A run that was stopped keeps its key until its generator has returned.
func TestStoppedRunKeepsKeyUntilItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cleaning atomic.Bool
		cleaned := make(chan struct{})
		b := newTestEngine(t, generators.New("deploy", func(_ context.Context, _ deployment, yield generators.Yield) (string, error) {
			if cleaning.Load() {
				t.Error("the next run began before the stopped one had returned")
			}
			_, err := ask.Text(yield, "name", "Name?")
			if err != nil {
				cleaning.Store(true)
				<-cleaned
				cleaning.Store(false)
			}
			return "", err
		}, &generators.Options{Exclusive: func(in deployment) string { return in.Env }}))
		first, second := b.startRun("deploy", `{"env":"prod"}`), b.startRun("deploy", `{"env":"prod"}`)
		b.waitForAsk(first, 0)
		if err := b.Cancel(t.Context(), me, first, "browser"); err != nil {
			t.Fatal(err)
		}
		b.waitForEnd(first)
		synctest.Wait()
		b.checkQueued(second)
		close(cleaned)
		askID, _ := b.waitForAsk(second, 0)
		b.acceptAsk(askID, `{"name":"Ada"}`)
		b.waitForEnd(second)
	})
}

// Lists are told when a queued run begins, although it does nothing else that they show.
func TestBeginOfQueuedRunIsSeenInLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		b := newTestEngine(t, generators.New("deploy", func(ctx context.Context, _ deployment, _ generators.Yield) (string, error) {
			<-ctx.Done()
			<-released
			return "", ctx.Err()
		}, &generators.Options{Exclusive: func(in deployment) string { return in.Env }}))
		first, second := b.startRun("deploy", `{"env":"prod"}`), b.startRun("deploy", `{"env":"prod"}`)
		var listed atomic.Pointer[engine.Info]
		go func() {
			for range b.Watch(t.Context(), me) {
				listed.Store(&b.Runs(me, 1, func(i engine.Info) bool { return i.ID == second })[0])
			}
		}()
		synctest.Wait()
		if err := b.Cancel(t.Context(), me, first, "browser"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if i := listed.Load(); i.QueuedFor != "prod" {
			t.Errorf("the list has %+v, want a queued run", i)
		}
		close(released)
		synctest.Wait()
		if i := listed.Load(); i.QueuedFor != "" {
			t.Errorf("the list has %+v, want a run that has begun", i)
		}
	})
}

// The queue survives a restart: who had the key has it, and the others keep their order.
func TestQueueSurvivesRestart(t *testing.T) {
	onEveryLog(t, func(t *testing.T, o engine.Options, reopen func() runlog.Log) {
		b := openTestEngine(t, o)
		var ids []string
		for range 4 {
			ids = append(ids, b.startRun("deploy", `{"env":"prod"}`))
		}
		b.waitForAsk(ids[0], 0)
		for n, id := range ids {
			b.closeNow()
			o.Log = reopen()
			b = openTestEngine(t, o)
			askID, _ := b.waitForAsk(id, 0)
			for _, later := range ids[n+1:] {
				b.checkQueued(later)
			}
			b.acceptAsk(askID, `{"name":"Ada"}`)
			if f := b.waitForEnd(id); f.Status != runlog.Completed {
				t.Errorf("finished = %+v", f)
			}
		}
	})
}

// After a crash, a key whose run has ended goes to the next one, and runs that aren't
// durable end.
func TestQueueAfterCrash(t *testing.T) {
	started := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "deploy", Durable: true, Owner: me.ID, Args: []byte(`{"env":"prod"}`), Exclusive: "prod"})
	queued := runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"})
	o := testOptions(t, newDeployPhoton(true))
	for id, entries := range map[string][]runlog.Entry{
		crashedRunID:                       {started, queued},
		"10000000000000000000000000000000": {started, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}), runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed})},
	} {
		if _, err := o.Log.Append(t.Context(), id, 0, entries...); err != nil {
			t.Fatal(err)
		}
	}
	b := openTestEngine(t, o)
	b.waitForAsk(crashedRunID, 0)

	o = testOptions(t, newDeployPhoton(false))
	b = openTestEngine(t, o)
	first, second := b.startRun("deploy", `{"env":"prod"}`), b.startRun("deploy", `{"env":"prod"}`)
	b.waitForAsk(first, 0)
	b.closeNow()
	b = openTestEngine(t, o)
	for id, want := range map[string]string{first: "while this was running", second: "before this began"} {
		if f := b.waitForEnd(id); f.Status != runlog.Interrupted || !strings.Contains(f.Error, want) {
			t.Errorf("finished = %+v", f)
		}
	}
	b.waitForAsk(b.startRun("deploy", `{"env":"prod"}`), 0)
}

// A key that can't be found refuses the start, and holds nothing.
func TestStartRefusesWrongKey(t *testing.T) {
	p := generators.New("wrong", func(context.Context, deployment, generators.Yield) (string, error) { return "", nil },
		&generators.Options{Exclusive: func(in deployment) string {
			if in.Env == "" {
				panic("no environment")
			}
			return strings.Repeat(in.Env, 100)
		}})
	b := newTestEngine(t, p)
	for args, want := range map[string]string{`{"env":""}`: "panicked", `{"env":"prod"}`: "the key of photon \"wrong\" has 400 bytes"} {
		_, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "wrong", Args: []byte(args)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	_, err := registry.NewRegistry(generators.New("wrong", func(context.Context, deployment, generators.Yield) (string, error) { return "", nil },
		&generators.Options{Exclusive: func(int) string { return "" }}))
	if want := fmt.Sprintf("its option Exclusive is a func(int) string, and must be a func(%T) string", deployment{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
