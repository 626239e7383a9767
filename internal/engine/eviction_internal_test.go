package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// A readOnlyLog is a log that rejects appends while it is full.
type readOnlyLog struct {
	runlog.Log
	full bool
}

func (l *readOnlyLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if l.full {
		return 0, errors.New("no space is left")
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// newWaitingRun returns an engine with a durable run that waits.
func newWaitingRun(t *testing.T, l runlog.Log) (*Engine, Info) {
	t.Helper()
	p := generators.New("waiter", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true})
	photons, err := registry.NewRegistry(p)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	e := New(Options{Photons: photons, Log: l, Blobs: blobs})
	info, err := e.Start(t.Context(), generators.Caller{ID: "me"}, StartRequest{Photon: "waiter"})
	if err != nil {
		t.Fatal(err)
	}
	batches, err := e.Follow(t.Context(), generators.Caller{ID: "me"}, info.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range batches {
		break // the run has asked
	}
	return e, info
}

// A run whose end can't be recorded no longer has a generator, so it isn't evictable.
func TestFailedRunIsNotResident(t *testing.T) {
	l := &readOnlyLog{Log: runlog.NewMemory()}
	e, info := newWaitingRun(t, l)
	r := e.residents.find(info.ID)
	r.mu.Lock()
	if e.evictor.Count() != 1 {
		t.Error("a durable run that waits is not evictable")
	}
	l.full = true
	r.mu.Unlock()
	if err := e.Cancel(t.Context(), generators.Caller{ID: "me"}, info.ID, "browser"); err == nil {
		t.Error("a stop that couldn't be recorded returned no error")
	}
	e.workers.Wait()
	if n := e.evictor.Count(); n != 0 {
		t.Errorf("%d runs are evictable, but none has a generator", n)
	}
}

// A run may resume working after it was selected for eviction.
func TestRunThatJustResumedIsNotEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, info := newWaitingRun(t, runlog.NewMemory())
		defer e.Close(t.Context())
		r := e.residents.find(info.ID)
		lives := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.worker != nil
		}
		time.Sleep(time.Minute)
		r.mu.Lock()
		err := r.Append(t.Context(), runlog.Entry{Kind: "status", Data: []byte(`{"text":"I go on"}`)})
		r.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if r.Evict(); !lives() {
			t.Error("the run was evicted")
		}
		time.Sleep(time.Minute)
		if r.Evict(); lives() {
			t.Error("the run wasn't evicted, although it waits")
		}
	})
}
