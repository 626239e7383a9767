package run

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// readOnly is a log that takes nothing more once it is full.
type readOnly struct {
	log.Log
	full bool
}

func (l *readOnly) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if l.full {
		return 0, errors.New("no space is left")
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// waiting is an engine with a durable run that waits.
func waiting(t *testing.T, l log.Log) (*Engine, Info) {
	t.Helper()
	p := generators.New("waiter", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true})
	photons, err := generators.NewRegistry(p)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	e := New(Options{Photons: photons, Log: l, Blobs: blobs})
	info, err := e.Start(t.Context(), Caller{"me"}, Request{Photon: "waiter"})
	if err != nil {
		t.Fatal(err)
	}
	batches, err := e.Follow(t.Context(), Caller{"me"}, info.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range batches {
		break // it has asked
	}
	return e, info
}

// A run whose end can't be recorded has no generator any more, and isn't counted
// among those that could be let go.
func TestARunThatBrokeDownIsNotHot(t *testing.T) {
	l := &readOnly{Log: log.NewMemory()}
	e, info := waiting(t, l)
	r := e.index.get(info.ID)
	r.mu.Lock()
	if e.heat.waiting.Len() != 1 {
		t.Error("a durable run that waits is not hot")
	}
	l.full = true
	r.mu.Unlock()
	if err := e.Cancel(t.Context(), Caller{"me"}, info.ID); err == nil {
		t.Error("a stop that could not be recorded is no error")
	}
	e.workers.Wait()
	if n := e.heat.waiting.Len(); n != 0 {
		t.Errorf("%d runs are hot, and none has a generator", n)
	}
}

// What was found idle may have gone on before it is let go.
func TestARunThatJustWentOnIsNotLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, info := waiting(t, log.NewMemory())
		defer e.Close(t.Context())
		r := e.index.get(info.ID)
		lives := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.work != nil
		}
		time.Sleep(time.Minute)
		r.mu.Lock()
		err := r.append(t.Context(), log.Entry{Kind: "status", Data: []byte(`{"text":"I go on"}`)})
		r.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if r.cool(); !lives() {
			t.Error("it was let go")
		}
		time.Sleep(time.Minute)
		if r.cool(); lives() {
			t.Error("it was not let go, though it waits")
		}
	})
}
