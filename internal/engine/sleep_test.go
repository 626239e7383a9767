package engine_test

import (
	"context"
	"math"
	"slices"
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

// A sleeper is a photon that works for a minute, sleeps for a night, and works for
// another minute, more than half of its time limit each.
type sleeper struct{ starts, returns atomic.Int64 }

func (p *sleeper) newPhoton(durable bool) *generators.Photon {
	return newPhoton("sleeper", func(ctx context.Context, yield generators.Yield) (string, error) {
		p.starts.Add(1)
		defer p.returns.Add(1)
		work := func(key string) error {
			_, err := generators.Step(yield, key, func(context.Context) (int, error) {
				time.Sleep(time.Minute) // in the bubble of a test
				return 0, nil
			})
			return err
		}
		if err := work("before"); err != nil {
			return "", err
		}
		if err := generators.Sleep(yield, "night", 8*time.Hour); err != nil {
			return "", err
		}
		yield(generators.Status("awake"))
		return "rested", work("after")
	}, &generators.Options{Durable: durable, TimeLimit: 3 * time.Minute})
}

func (b *testEngine) state(id string) engine.Info {
	b.t.Helper()
	info, err := b.Info(me, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return info
}

// sleepUntilEnd waits for the end of a run that takes long, in a synctest bubble.
func (b *testEngine) sleepUntilEnd(id string) runlog.Finished {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 48*time.Hour)
	defer cancel()
	batches, err := b.Follow(ctx, me, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for range batches {
		continue
	}
	return b.waitForEnd(id)
}

// A run that sleeps has no generator in memory, and its time limit stands still. It
// continues when the sleep ends.
func TestSleepingRunIsEvictedAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p sleeper
		b := newTestEngine(t, p.newPhoton(true))
		began := time.Now()
		id := b.startRun("sleeper", "")
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		wakes := began.Add(time.Minute + 8*time.Hour)
		if i := b.state(id); i.State != engine.Sleeping || !i.Wakes.Equal(wakes) {
			t.Errorf("the run is %s until %s, want sleeping until %s", i.State, i.Wakes, wakes)
		}
		if p.returns.Load() != 1 || b.Counts().Resident != 0 || b.Counts().Runs[engine.Sleeping] != 1 {
			t.Errorf("the generator is still in memory: %+v", b.Counts())
		}
		time.Sleep(time.Until(wakes) - time.Second)
		synctest.Wait()
		if n := p.starts.Load(); n != 1 {
			t.Errorf("before the end of the sleep, the generator has started %d times", n)
		}
		if f := b.sleepUntilEnd(id); f.Status != runlog.Completed || string(f.Result) != `"rested"` {
			t.Errorf("finished = %+v", f)
		}
		if got, want := time.Since(began), 8*time.Hour+2*time.Minute; got != want {
			t.Errorf("the run took %s, want %s", got, want)
		}
		want := []runlog.Kind{"started", "claimed", "stepped", "sleeping", "woken", "claimed", "status", "stepped", "finished"}
		if got := kindsOf(b.entries(id)); !slices.Equal(got, want) {
			t.Errorf("log = %v, want %v", got, want)
		}
		if i := b.state(id); !i.Wakes.IsZero() {
			t.Errorf("the run has ended, and wakes at %s", i.Wakes)
		}
	})
}

// A run that sleeps is restored at start. If the sleep has ended in the meantime, the
// run continues at once, and otherwise when it ends.
func TestSleepSurvivesRestart(t *testing.T) {
	for name, down := range map[string]time.Duration{"within the sleep": time.Hour, "after the sleep": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p sleeper
				o := testOptions(t, p.newPhoton(true))
				b := openTestEngine(t, o)
				began := time.Now()
				id := b.startRun("sleeper", "")
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				b.closeNow()
				time.Sleep(down)
				again := openTestEngine(t, o)
				opened := time.Now()
				if f := again.sleepUntilEnd(id); f.Status != runlog.Completed {
					t.Errorf("finished = %+v", f)
				}
				want := began.Add(8*time.Hour + 2*time.Minute)
				if down > 8*time.Hour {
					want = opened.Add(time.Minute)
				}
				if got := time.Now(); !got.Equal(want) {
					t.Errorf("the run ended at %s, want %s", got, want)
				}
			})
		})
	}
}

// From each point at which the process can crash, a run that sleeps comes to the same
// end.
func TestSleepIsReplayedFromEveryEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p sleeper
		o := testOptions(t, p.newPhoton(true))
		b := openTestEngine(t, o)
		id := b.startRun("sleeper", "")
		b.sleepUntilEnd(id)
		whole := b.entries(id)
		for n := 1; n < len(whole); n++ {
			o := o
			o.Log = logWithPrefix(t, whole, n)
			again := openTestEngine(t, o)
			if f := again.sleepUntilEnd(crashedRunID); f.Status != runlog.Completed {
				t.Errorf("after entry %d: finished = %+v", n, f)
			}
			if got, want := withoutClaims(again.entries(crashedRunID)), withoutClaims(whole); !slices.Equal(kindsOf(got), kindsOf(want)) {
				t.Errorf("after entry %d: log = %v, want %v", n, kindsOf(got), kindsOf(want))
			}
			again.closeNow()
		}
	})
}

// A run that isn't durable sleeps in memory, and is interrupted by a restart.
func TestNonDurableRunSleepsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p sleeper
		o := testOptions(t, p.newPhoton(false))
		b := openTestEngine(t, o)
		id := b.startRun("sleeper", "")
		if f := b.sleepUntilEnd(id); f.Status != runlog.Completed || p.starts.Load() != 1 {
			t.Errorf("finished = %+v after %d starts", f, p.starts.Load())
		}
		id = b.startRun("sleeper", "")
		time.Sleep(2 * time.Minute)
		b.closeNow()
		if f := openTestEngine(t, o).sleepUntilEnd(id); f.Status != runlog.Interrupted {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Stopping a run ends its sleep, whether its generator is in memory or not.
func TestSleepingRunIsStopped(t *testing.T) {
	for _, durable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var p sleeper
			b := newTestEngine(t, p.newPhoton(durable))
			id := b.startRun("sleeper", "")
			time.Sleep(time.Hour)
			synctest.Wait()
			if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
				t.Fatal(err)
			}
			if f := b.sleepUntilEnd(id); f.Status != runlog.Stopped {
				t.Errorf("finished = %+v", f)
			}
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if p.returns.Load() != p.starts.Load() || p.starts.Load() != 1 {
				t.Errorf("the generator has started %d times and returned %d times", p.starts.Load(), p.returns.Load())
			}
		})
	}
}

// A goroutine may sleep while another waits for an answer: the run waits, and wakes at
// the right time.
func TestSleepBesideQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, newPhoton("reminder", func(_ context.Context, yield generators.Yield) (string, error) {
			var reminders sleepLog
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				for reminders.add(generators.Sleep(yield, "remind", time.Hour)) {
					yield(generators.Status("still waiting"))
				}
			})
			return ask.Text(yield, "name", "Name?")
		}, &generators.Options{Durable: true}))
		id := b.startRun("reminder", "")
		askID, _ := b.waitForAsk(id, 0)
		time.Sleep(150 * time.Minute)
		synctest.Wait()
		if i := b.state(id); i.State != engine.Waiting || i.Wakes.IsZero() {
			t.Errorf("the run is %s until %s", i.State, i.Wakes)
		}
		b.acceptAsk(askID, `{"name":"Ada"}`)
		if f := b.sleepUntilEnd(id); string(f.Result) != `"Ada"` {
			t.Errorf("finished = %+v", f)
		}
		reminded := 0
		for _, e := range b.entries(id) {
			if e.Kind == "status" {
				reminded++
			}
		}
		if reminded != 2 {
			t.Errorf("it reminded %d times in two and a half hours: %v", reminded, kindsOf(b.entries(id)))
		}
	})
}

type sleepLog int

func (l *sleepLog) add(err error) bool { *l++; return err == nil && *l < 10 }

// A time far away is kept, and one in the past doesn't wait.
func TestSleepUntilAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, newPhoton("until", func(_ context.Context, yield generators.Yield) (string, error) {
			if err := generators.SleepUntil(yield, "past", time.Unix(0, 0)); err != nil {
				return "", err
			}
			return "", generators.SleepUntil(yield, "future", time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC))
		}, &generators.Options{Durable: true}))
		began := time.Now()
		id := b.startRun("until", "")
		time.Sleep(time.Second)
		synctest.Wait()
		if i := b.state(id); i.State != engine.Sleeping || i.Wakes.Year() != 9999 {
			t.Errorf("after %s, the run is %s until %s: %v", time.Since(began), i.State, i.Wakes, kindsOf(b.entries(id)))
		}
		if text := (runlog.Sleeping{Until: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}).Describe(); !strings.Contains(text, "2026-11-23 09:00") {
			t.Errorf("it says %q", text)
		}
	})
}

// A sleep until a time in the past, however far, ends at once.
func TestSleepUntilThePast(t *testing.T) {
	for name, until := range map[string]time.Time{
		"zero": {}, "year 0": time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "before year 0": time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
		"Unix epoch": time.Unix(0, 0), "most negative": time.Unix(math.MinInt64, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newTestEngine(t, newPhoton("past", func(_ context.Context, yield generators.Yield) (string, error) {
					return "awake", generators.SleepUntil(yield, "past", until)
				}, &generators.Options{Durable: true}))
				began := time.Now()
				id := b.startRun("past", "")
				time.Sleep(time.Minute)
				synctest.Wait()
				if i := b.state(id); i.State != engine.Completed {
					t.Fatalf("the run is %s until %s", i.State, i.Wakes)
				}
				if f := b.waitForEnd(id); f.Status != runlog.Completed || time.Since(began) > time.Hour {
					t.Errorf("finished = %+v", f)
				}
			})
		})
	}
}
