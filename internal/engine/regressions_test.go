package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// An uncertain append may turn out to be recorded after the run has failed for another
// reason.
func TestUncertainAppendOutlivesItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, newPhoton("teller", func(_ context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("one"))
			yield(generators.Status("two")) // waits for the end of the flush interval
			time.Sleep(500 * time.Millisecond)
			yield(generators.File("big.txt", "text/plain", []byte(strings.Repeat("x", 100<<10))))
			return "over", nil
		}, nil))
		l := &uncertainLog{Log: o.Log, recorded: true}
		l.appendsLeft.Store(3) // the start with the claim, "one", "two"
		o.Log = l
		b := openTestEngine(t, o)
		id := b.startRun("teller", "")
		o.Blobs.Close() // large data can no longer be stored
		time.Sleep(time.Hour)
		if f := b.waitForEnd(id); f.Status != runlog.Failed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// A repeated request is recognized however its JSON is formatted, even after a restart.
func TestRepeatedRequestAfterRestart(t *testing.T) {
	for _, args := range []string{`{"text":"Ada"}`, `{ "text": "Ada" }`, `{"text":"a<b"}`} {
		o := testOptions(t, echo)
		b := openTestEngine(t, o)
		request := engine.StartRequest{Photon: "echo", Args: json.RawMessage(args), IdempotencyKey: "once", Surface: "test"}
		first, err := b.Start(t.Context(), me, request)
		if err != nil {
			t.Fatal(err)
		}
		b.waitForEnd(first.ID)
		b.closeNow()
		if again, err := openTestEngine(t, o).Start(t.Context(), me, request); err != nil || again.ID != first.ID {
			t.Errorf("%s after a restart: run %q, want %q; %v", args, again.ID, first.ID, err)
		}
	}
}

// A goroutine that the generator doesn't wait for may or may not ask its
// question again.
func TestReplayMayMissCallsOfUnawaitedGoroutine(t *testing.T) {
	side := newPhoton("side", func(_ context.Context, yield generators.Yield) (string, error) {
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			if name, err := ask.Text(yield, "nick", "A nickname, if you like?"); err == nil {
				yield(generators.Status("noted " + name))
			}
		})
		_, err := ask.Text(yield, "name", "Name?")
		return "over", err
	}, &generators.Options{Durable: true})
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, side)
		id := b.startRun("side", "")
		for _, key := range []string{"nick", "name"} {
			synctest.Wait()
			info, err := b.Info(me, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range info.Asks {
				if q.Key == key {
					b.acceptAsk(q.ID, `{"`+key+`":"x"}`)
				}
			}
			time.Sleep(time.Hour) // until it is evicted
		}
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// If the process ends while a run works after the answer to one of two questions, the
// run continues in the next process, although the other question is open.
func TestHalfAnsweredRunContinuesAfterRestart(t *testing.T) {
	var begun atomic.Int64
	two := newPhoton("two", func(_ context.Context, yield generators.Yield) (string, error) {
		done := make(chan none)
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			defer close(done)
			if _, err := ask.Text(yield, "a", "A?"); err != nil {
				return
			}
			generators.Step(yield, "effect", func(ctx context.Context) (int, error) {
				if begun.Add(1) == 1 {
					<-ctx.Done()
				}
				return 1, ctx.Err()
			})
		})
		_, err := ask.Text(yield, "b", "B?")
		<-done
		return "over", err
	}, &generators.Options{Durable: true})
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, two)
		b := openTestEngine(t, o)
		id := b.startRun("two", "")
		synctest.Wait()
		info, err := b.Info(me, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range info.Asks {
			if q.Key == "a" {
				b.acceptAsk(q.ID, `{"a":"x"}`)
			}
		}
		synctest.Wait()
		b.closeNow()
		openTestEngine(t, o)
		time.Sleep(time.Hour)
		if begun.Load() != 2 {
			t.Errorf("the step started %d times, want again after the restart", begun.Load())
		}
	})
}

// A run that can't be deleted stays intact and is deleted later.
func TestFailedPrune(t *testing.T) {
	o := testOptions(t, echo)
	l := &undeletableLog{Log: o.Log}
	o.Log = l
	b := openTestEngine(t, o)
	id := b.startRun("echo", `{"text":"`+strings.Repeat("x", 300<<10)+`"}`)
	b.waitForEnd(id)
	l.failing.Store(true)
	if pruned, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false); err == nil || len(pruned) > 0 {
		t.Errorf("pruning deleted %v, %v", pruned, err)
	}
	l.failing.Store(false)
	b.closeNow()
	b = openTestEngine(t, o)
	if pruned, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false); err != nil || len(pruned) != 1 {
		t.Errorf("later, pruning deleted %v, %v", pruned, err)
	}
}

// An undeletableLog is a log that fails to delete runs for a while.
type undeletableLog struct {
	runlog.Log
	failing atomic.Bool
}

func (l *undeletableLog) Delete(ctx context.Context, run string) error {
	if l.failing.Load() {
		return runlog.ErrUnavailable
	}
	return l.Log.Delete(ctx, run)
}
