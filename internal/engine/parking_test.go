package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// upgrade opens an engine for the log of another, which it closes, with another program.
func (b *testEngine) upgrade(o *engine.Options, program string, photons ...*generators.Photon) *testEngine {
	b.t.Helper()
	b.closeNow()
	o.Program = func() string { return program }
	if len(photons) > 0 {
		o.Photons = testOptions(b.t, photons...).Photons
	}
	return openTestEngine(b.t, *o)
}

// Code outside of steps that takes longer than a rehearsal parks no run, nor does closing the
// engine meanwhile.
func TestSlowCodeParksNoRun(t *testing.T) {
	for _, closes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var slow atomic.Bool
			photon := newPhoton("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
				generators.Go(yield, func(_ context.Context, yield generators.Yield) { _, _ = ask.Text(yield, "first", "?") })
				if slow.Load() {
					time.Sleep(3 * time.Second)
				}
				return ask.Text(yield, "second", "?")
			}, &generators.Options{Durable: true})
			o := testOptions(t, photon)
			b := openTestEngine(t, o)
			id := b.startRun("slow", "")
			synctest.Wait()
			slow.Store(true)
			b = b.upgrade(&o, "another program")
			if closes {
				go func() { _, _ = b.Info(me, id) }()
				time.Sleep(100 * time.Millisecond)
			} else if info := b.state(id); info.State != engine.Waiting {
				t.Errorf("while its code is slow, the run is %s: %v", info.State, info.Parked)
			}
			time.Sleep(10 * time.Second)
			slow.Store(false)
			b = b.upgrade(&o, "another program")
			if info := b.state(id); info.State != engine.Waiting || len(info.Asks) != 2 {
				t.Errorf("closed meanwhile: %t; the run is %s: %v", closes, info.State, info.Parked)
			}
		})
	}
}

// A start doesn't wait until the runs that worked are checked.
func TestStartWaitsForNoCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		photon := newPhoton("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
			if slow {
				time.Sleep(3 * time.Second)
			}
			return generators.Step(yield, "work", func(ctx context.Context) (string, error) {
				if !slow {
					<-ctx.Done()
				}
				return "", context.Cause(ctx)
			})
		}, &generators.Options{Durable: true})
		o := testOptions(t, photon)
		b := openTestEngine(t, o)
		var ids []string
		for range 50 {
			ids = append(ids, b.startRun("slow", ""))
		}
		synctest.Wait()
		b.closeNow()
		slow = true
		o.Program = func() string { return "another program" }
		began := time.Now()
		b = openTestEngine(t, o)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the start took %s", took)
		}
		time.Sleep(time.Minute)
		for _, id := range ids {
			if info := b.state(id); info.State != engine.Completed {
				t.Fatalf("a minute later, a run is %s", info.State)
			}
		}
	})
}

// A failingLog fails to append entries of a kind.
type failingLog struct {
	runlog.Log
	kind runlog.Kind
	left int
}

func (l *failingLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if entries[0].Kind == l.kind && l.left > 0 {
		l.left--
		return 0, runlog.ErrUnavailable
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// A parked run that fits goes on although that can't be recorded at first.
func TestParkedRunGoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := func(key string) *generators.Photon {
			return newPhoton("asks", func(_ context.Context, yield generators.Yield) (string, error) {
				return ask.Text(yield, key, "?")
			}, &generators.Options{Durable: true})
		}
		o := testOptions(t, asking("name"))
		failing := &failingLog{Log: o.Log, kind: runlog.KindClaimed}
		o.Log = failing
		b := openTestEngine(t, o)
		id := b.startRun("asks", "")
		synctest.Wait()
		b = b.upgrade(&o, "wrong", asking("other"))
		b.waitForParked(id)
		if err := b.Withdraw(t.Context(), me, b.state(id).Asks[0].ID, runlog.Unsupported, "no"); err == nil {
			t.Error("a question of a parked run was withdrawn")
		}
		failing.left = 1
		b = b.upgrade(&o, "right", asking("name"))
		synctest.Wait()
		if info := b.state(id); info.State != engine.Waiting || failing.left > 0 {
			t.Errorf("the run is %s; %d failures are left", info.State, failing.left)
		}
	})
}
