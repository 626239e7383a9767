package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// newTwoAsksPhoton returns a photon that asks two questions at once and works for
// hours after the answer to the first. Either the generator itself asks the first, or
// a goroutine for which it waits.
func newTwoAsksPhoton(evicted, worked *atomic.Int64, itself bool) *generators.Photon {
	return newPhoton("two", func(ctx context.Context, yield generators.Yield) (string, error) {
		defer evicted.Add(1)
		var both sync.WaitGroup
		var first, second string
		long := func(ctx context.Context) {
			var err error
			if first, err = ask.Text(yield, "first", "First?"); err != nil {
				return
			}
			select {
			case <-time.After(3 * time.Hour):
				worked.Add(1)
			case <-ctx.Done():
			}
		}
		beside := func(fn func(context.Context)) {
			both.Add(1)
			generators.Go(yield, func(ctx context.Context, _ generators.Yield) { defer both.Done(); fn(ctx) })
		}
		beside(func(context.Context) { second, _ = ask.Text(yield, "second", "Second?") })
		if itself {
			time.Sleep(time.Second) // after the other question
			long(ctx)
		} else {
			beside(long)
		}
		both.Wait()
		return first + " " + second, nil
	}, &generators.Options{Durable: true})
}

// A run isn't evicted while one of its goroutines works after an answer, although
// another question is open.
func TestRunIsNotEvictedWhileGoroutineWorks(t *testing.T) {
	for name, itself := range map[string]bool{"the generator itself": true, "beside it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var evicted, worked atomic.Int64
				b := newTestEngine(t, newTwoAsksPhoton(&evicted, &worked, itself))
				id := b.startRun("two", "")
				time.Sleep(time.Minute)
				info, err := b.Info(me, id)
				if err != nil || len(info.Asks) != 2 {
					t.Fatal(info, err)
				}
				for _, a := range info.Asks {
					if a.Key == "first" {
						b.acceptAsk(a.ID, `{"first":"one"}`)
					}
				}
				time.Sleep(4 * time.Hour)
				if worked.Load() != 1 {
					t.Errorf("the goroutine completed its work %d times, want once", worked.Load())
				}
				if !itself && evicted.Load() != 1 {
					t.Error("the run has nothing to do, but is still in memory")
				}
				b.acceptAsk(b.Inbox(me, 0)[0].ID, `{"second":"two"}`)
				time.Sleep(4 * time.Hour) // work outside of a step is repeated
				if f := b.waitForEnd(id); string(f.Result) != `"one two"` {
					t.Errorf("finished = %+v", f)
				}
			})
		})
	}
}

// A run is evicted if its generator, after a question of its own, only waits for
// goroutines that ask.
func TestRunIsEvictedWhileGoroutinesWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var evicted atomic.Int64
		b := newTestEngine(t, newPhoton("rounds", func(_ context.Context, yield generators.Yield) (string, error) {
			defer evicted.Add(1)
			together := func(keys ...string) {
				var all sync.WaitGroup
				for _, key := range keys {
					all.Add(1)
					generators.Go(yield, func(_ context.Context, yield generators.Yield) {
						defer all.Done()
						ask.Text(yield, key, key+"?")
					})
				}
				all.Wait()
			}
			together("a", "b")
			if _, err := ask.Text(yield, "c", "c?"); err != nil {
				return "", err
			}
			together("d", "e")
			return "done", nil
		}, &generators.Options{Durable: true}))
		id := b.startRun("rounds", "")
		answer := func() {
			for _, a := range b.Inbox(me, 0) {
				b.acceptAsk(a.ID, `{"`+a.Key+`":"x"}`)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		answer()
		answer()
		time.Sleep(time.Hour)
		if evicted.Load() != 1 || b.CountOpenAsks(me) != 2 {
			t.Errorf("it was evicted %d times, want once; %d questions are open, want 2", evicted.Load(), b.CountOpenAsks(me))
		}
		answer()
		if f := b.waitForEnd(id); string(f.Result) != `"done"` {
			t.Errorf("finished = %+v", f)
		}
	})
}
