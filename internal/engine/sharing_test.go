package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A fleet is the processes that share a log. All hints are lost.
type fleet struct {
	log  *runlist.Memory
	mu   sync.Mutex
	gone map[string]bool
}

// A member is one process of a fleet.
type member struct {
	*fleet
	id string
}

var _ sharing.Replica = member{}

func (m member) ID() string { return m.id }

func (m member) Holds(_ context.Context, worker string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return worker == m.id || worker == "" || m.gone[worker]
}

func (m member) AwaitLease(ctx context.Context) (bool, error) { return false, ctx.Err() }
func (m member) Peers() []sharing.Peer                        { return nil }
func (m member) LeaseAge() time.Duration                      { return 0 }

func (m member) Changed(ctx context.Context) (map[string]uint64, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

func (m member) Heads(ctx context.Context, runs []string) (map[string]uint64, error) {
	heads := make(map[string]uint64)
	for _, id := range runs {
		row, err := m.log.Row(ctx, id)
		switch {
		case err == nil:
			heads[id] = row.Last
		case !errors.Is(err, runlog.ErrNotFound):
			return nil, err
		}
	}
	return heads, nil
}

// lose lets a process seem gone.
func (f *fleet) lose(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone[id] = true
}

// newFleet returns the engines of two processes that share a log.
func newFleet(t *testing.T, photons ...*generators.Photon) (f *fleet, a, b *testEngine) {
	o := testOptions(t, photons...)
	f = &fleet{log: runlist.NewMemory(runlog.NewMemory(), nil), gone: make(map[string]bool)}
	o.Log, o.Replica = f.log, member{f, "a"}
	a = openTestEngine(t, o)
	o.Replica = member{f, "b"}
	return f, a, openTestEngine(t, o)
}

// A run is answered in another process than its own, which goes on with it, evicted or not. When that
// is gone, the other one does.
func TestRunOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		photon := newPhoton("three", func(_ context.Context, yield generators.Yield) (string, error) {
			for _, key := range []string{"first", "second", "third"} {
				if _, err := ask.Text(yield, key, "?"); err != nil {
					return "", err
				}
			}
			return "done", nil
		}, &generators.Options{Durable: true})
		f, a, b := newFleet(t, photon)
		id := a.startRun("three", "")
		first, seq := a.waitForAsk(id, 0)
		b.acceptAsk(first, `{"first":"x"}`)
		if info, err := a.Info(me, id); err != nil || len(info.Asks) > 0 && info.Asks[0].ID == first {
			t.Errorf("after the answer in another process, the run is %+v, %v", info, err)
		}
		second, seq := a.waitForAsk(id, seq)
		time.Sleep(time.Hour) // it is evicted
		b.acceptAsk(second, `{"second":"x"}`)
		third, _ := b.waitForAsk(id, seq)
		if n := a.countEntries(id, runlog.KindClaimed); n != 2 {
			t.Errorf("it was claimed %d times, want 2: when it was started, and resumed", n)
		}
		f.lose("a")
		b.acceptAsk(third, `{"third":"x"}`)
		if end := b.waitForEnd(id); end.Status != runlog.Completed {
			t.Errorf("the run ended as %s: %s", end.Status, end.Error)
		}
	})
}

// A run that isn't durable is interrupted when its process is gone, and not before, also if others
// have it in memory; one that waits for another with its key isn't, because any process may begin it.
func TestRunsThatAreNotDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		photon := newPhoton("wait", func(_ context.Context, yield generators.Yield) (string, error) {
			return ask.Text(yield, "name", "?")
		}, &generators.Options{Exclusive: func(none) string { return "one" }})
		f, a, b := newFleet(t, photon)
		first := a.startRun("wait", "")
		a.waitForAsk(first, 0)
		queued := a.startRun("wait", "")
		for _, id := range []string{first, queued} {
			if _, err := b.Info(me, id); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan runlog.Finished, 1)
		go func() { ended <- b.waitForEnd(first) }() // keeps it in memory
		time.Sleep(time.Minute)
		for id, want := range map[string]engine.State{first: engine.Waiting, queued: engine.Running} {
			if info := b.state(id); info.State != want {
				t.Errorf("run %s is %s: %s", id, info.State, info.Error)
			}
		}
		f.lose("a")
		if end := <-ended; end.Status != runlog.Interrupted {
			t.Errorf("after its process was gone, the run ended as %s", end.Status)
		}
		b.waitForAsk(queued, 0) // it began
	})
}
