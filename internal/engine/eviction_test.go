package engine_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// twoAskPhoton asks twice, with a step in between. It counts how often it
// starts, runs its step, and is evicted.
type twoAskPhoton struct{ starts, steps, returns atomic.Int64 }

func (p *twoAskPhoton) newPhoton(durable bool, opts ...ask.Option) *generators.Photon {
	return newPhoton("patient", func(_ context.Context, yield generators.Yield) (string, error) {
		p.starts.Add(1)
		defer p.returns.Add(1)
		first, err := ask.Text(yield, "first", "First?", opts...)
		if err != nil {
			return "", err
		}
		n, err := generators.Step(yield, "count", func(context.Context) (int64, error) { return p.steps.Add(1), nil })
		if err != nil {
			return "", err
		}
		yield(generators.Statusf("counted to %d", n))
		second, err := ask.Text(yield, "second", "Second?", opts...)
		return first + " " + second, err
	}, &generators.Options{Durable: durable})
}

func TestWaitingDurableRunIsEvictedAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b := newTestEngine(t, p.newPhoton(true))
		id := b.startRun("patient", "")
		first, seq := b.waitForAsk(id, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.returns.Load() != 1 {
			t.Fatal("after an hour, the generator is still in memory")
		}
		if open := b.Inbox(me, 0); len(open) != 1 || open[0].ID != first {
			t.Errorf("the inbox has %v, want the question of the evicted run", open)
		}
		b.acceptAsk(first, `{"first":"one"}`)
		second, _ := b.waitForAsk(id, seq)
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.returns.Load() != 2 {
			t.Error("the run isn't evicted again")
		}
		b.acceptAsk(second, `{"second":"two"}`)
		if f := b.waitForEnd(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
		if p.starts.Load() != 3 || p.steps.Load() != 1 {
			t.Errorf("the generator started %d times and its step %d times, want 3 and 1", p.starts.Load(), p.steps.Load())
		}
		statuses := 0
		for _, e := range b.entries(id) {
			if e.Kind == "status" {
				statuses++
			}
		}
		if statuses != 1 {
			t.Errorf("its status was recorded %d times, want once", statuses)
		}
	})
}

// A run isn't evicted while it has both an open question and a running step, because
// the step's effect would be repeated.
func TestRunIsNotEvictedDuringStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		var built atomic.Int64
		b := newTestEngine(t, newPhoton("beside", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.starts.Add(1)
			defer p.returns.Add(1)
			answered := make(chan string, 1)
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				s, _ := ask.Text(yield, "name", "Name?")
				answered <- s
			})
			for range 2 {
				_, err := generators.Step(yield, "build", func(ctx context.Context) (int64, error) {
					select {
					case <-time.After(time.Hour):
					case <-ctx.Done():
					}
					return built.Add(1), ctx.Err()
				})
				if err != nil {
					return "", err
				}
			}
			select {
			case s := <-answered:
				return s, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}, &generators.Options{Durable: true}))
		id := b.startRun("beside", "")
		askID, _ := b.waitForAsk(id, 0)
		time.Sleep(119 * time.Minute)
		if p.returns.Load() != 0 {
			t.Error("the run was evicted while it worked")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.returns.Load() != 1 {
			t.Error("the run has nothing to do, but is still in memory")
		}
		b.acceptAsk(askID, `{"name":"a"}`)
		if f := b.waitForEnd(id); string(f.Result) != `"a"` || built.Load() != 2 {
			t.Errorf("finished = %+v; the two steps ran %d times", f, built.Load())
		}
	})
}

// A run isn't evicted during its replay, which may take a while.
func TestRunIsNotEvictedDuringReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b := newTestEngine(t, newPhoton("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.starts.Add(1)
			defer p.returns.Add(1)
			select {
			case <-time.After(30 * time.Minute):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			var first, second string
			err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
			return first + " " + second, err
		}, &generators.Options{Durable: true}))
		id := b.startRun("slow", "")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		first, seq := b.waitForAsk(id, 0)
		second, _ := b.waitForAsk(id, seq)
		b.acceptAsk(first, `{"first":"one"}`)
		time.Sleep(29 * time.Minute)
		if p.starts.Load() != 2 || p.returns.Load() != 1 {
			t.Errorf("the generator started %d times and was evicted %d times, want 2 and 1", p.starts.Load(), p.returns.Load())
		}
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		if p.returns.Load() != 2 {
			t.Error("the run has reached its question, but isn't evicted again")
		}
		b.acceptAsk(second, `{"second":"two"}`)
		time.Sleep(time.Hour)
		if f := b.waitForEnd(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
	})
}

func TestDeadlineOfEvictedRunFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b := newTestEngine(t, p.newPhoton(true, ask.Timeout(2*time.Hour)))
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if p.starts.Load() != 2 {
			t.Errorf("the generator started %d times, want twice, because it was evicted before the deadline", p.starts.Load())
		}
		if f := b.waitForEnd(id); f.Reason() != runlog.ReasonExpired {
			t.Errorf("finished = %+v", f)
		}
	})
}

func TestNonDurableRunsAreNotEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b := newTestEngine(t, p.newPhoton(false))
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if p.returns.Load() != 0 {
			t.Error("a run that isn't durable was evicted")
		}
	})
}

func TestTooManyResidentRunsAreEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		o.Limits = engine.Limits{MaxResident: 10}
		b := openTestEngine(t, o)
		var ids []string
		for range 30 {
			ids = append(ids, b.startRun("patient", ""))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if resident := p.starts.Load() - p.returns.Load(); resident != 10 {
			t.Errorf("%d runs wait in memory, want 10", resident)
		}
		for _, id := range ids {
			first, seq := b.waitForAsk(id, 0)
			b.acceptAsk(first, `{"first":"a"}`)
			second, _ := b.waitForAsk(id, seq)
			b.acceptAsk(second, `{"second":"b"}`)
			if f := b.waitForEnd(id); f.Status != runlog.Completed {
				t.Fatalf("finished = %+v", f)
			}
		}
		if p.steps.Load() != 30 {
			t.Errorf("30 runs executed %d steps", p.steps.Load())
		}
	})
}

// Runs beyond the limit are evicted soon, even if nothing else happens.
func TestTooManyResidentRunsAreEvictedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		o.Limits = engine.Limits{MaxResident: 10}
		b := openTestEngine(t, o)
		for range 30 {
			b.startRun("patient", "")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if resident := p.starts.Load() - p.returns.Load(); resident != 10 {
			t.Errorf("%d runs wait in memory, want 10", resident)
		}
	})
}

func TestRunWithProgressWhileWaitingIsNotEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, newPhoton("busy", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.starts.Add(1)
			defer p.returns.Add(1)
			generators.Go(yield, func(ctx context.Context, yield generators.Yield) {
				tick := time.NewTicker(time.Second / 2)
				defer tick.Stop()
				for {
					select {
					case <-ctx.Done():
						return
					case <-tick.C:
						yield(generators.Status("still at it"))
					}
				}
			})
			return ask.Text(yield, "name", "Name?")
		}, &generators.Options{Durable: true}))
		o.Limits = engine.Limits{MaxResident: 1}
		b := openTestEngine(t, o)
		for range 5 {
			b.waitForAsk(b.startRun("busy", ""), 0)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if p.returns.Load() != 0 {
			t.Errorf("%d of 5 runs that work were evicted", p.returns.Load())
		}
	})
}

func TestRunsAreNotResidentAfterRestart(t *testing.T) {
	var p twoAskPhoton
	o := testOptions(t, p.newPhoton(true))
	before := openTestEngine(t, o)
	id := before.startRun("patient", "")
	first, seq := before.waitForAsk(id, 0)
	before.closeNow()
	after := openTestEngine(t, o)
	if p.starts.Load() != 1 {
		t.Error("a waiting run was resumed before it was answered")
	}
	if err := after.Answer(t.Context(), me, first, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"first":"one"}`)}, "test"); err != nil {
		t.Fatal(err)
	}
	second, _ := after.waitForAsk(id, seq)
	after.acceptAsk(second, `{"second":"two"}`)
	if f := after.waitForEnd(id); string(f.Result) != `"one two"` {
		t.Errorf("finished = %+v", f)
	}
}

// With ReplayAlways, a run is evicted as soon as it waits, also in memory, so that each
// answer replays it. Questions that are asked at once are asked first.
func TestReplayAlwaysEvictsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		together := newPhoton("together", func(_ context.Context, yield generators.Yield) (string, error) {
			var first, second string
			err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
			return first + second, err
		}, &generators.Options{Durable: true})
		o := testOptions(t, p.newPhoton(true), together)
		o.Ephemeral, o.Limits.ReplayAlways = true, true
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		first, seq := b.waitForAsk(id, 0)
		synctest.Wait()
		if p.returns.Load() != 1 || b.Counts().Resident != 0 {
			t.Fatalf("the generator has returned %d times, and %d runs are in memory", p.returns.Load(), b.Counts().Resident)
		}
		b.acceptAsk(first, `{"first":"one"}`)
		second, _ := b.waitForAsk(id, seq)
		synctest.Wait()
		b.acceptAsk(second, `{"second":"two"}`)
		if f := b.waitForEnd(id); string(f.Result) != `"one two"` || p.starts.Load() != 3 || p.steps.Load() != 1 {
			t.Errorf("finished = %+v after %d starts and %d steps", f, p.starts.Load(), p.steps.Load())
		}
		id = b.startRun("together", "")
		b.waitForAsk(id, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.CountOpenAsks(me); n != 2 || b.Counts().Resident != 0 {
			t.Errorf("%d questions are open, want both; %d runs are in memory", n, b.Counts().Resident)
		}
	})
}
