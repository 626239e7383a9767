package run_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// patient asks twice, with a step between, and counts how often it begins,
// does its step, and is let go.
type patient struct{ begun, stepped, gone atomic.Int64 }

func (p *patient) photon(durable bool, opts ...ask.Option) *generators.Photon {
	return photon("patient", func(_ context.Context, yield generators.Yield) (string, error) {
		p.begun.Add(1)
		defer p.gone.Add(1)
		first, err := ask.Text(yield, "first", "First?", opts...)
		if err != nil {
			return "", err
		}
		n, err := generators.Step(yield, "count", func(context.Context) (int64, error) { return p.stepped.Add(1), nil })
		if err != nil {
			return "", err
		}
		yield(generators.Statusf("counted to %d", n))
		second, err := ask.Text(yield, "second", "Second?", opts...)
		return first + " " + second, err
	}, &generators.Options{Durable: durable})
}

func TestADurableRunThatWaitsForLongIsLetGoAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		b := newBench(t, p.photon(true))
		id := b.start("patient", "")
		first, seq := b.asked(id, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.gone.Load() != 1 {
			t.Fatal("after an hour the generator still waits in memory")
		}
		if open := b.Inbox(me, 0); len(open) != 1 || open[0].ID != first {
			t.Errorf("the inbox has %v, want the question of the run that was let go", open)
		}
		b.accept(first, `{"first":"one"}`)
		second, _ := b.asked(id, seq)
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.gone.Load() != 2 {
			t.Error("it is not let go again")
		}
		b.accept(second, `{"second":"two"}`)
		if f := b.finished(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
		if p.begun.Load() != 3 || p.stepped.Load() != 1 {
			t.Errorf("it began %d times and did its step %d times, want 3 and 1", p.begun.Load(), p.stepped.Load())
		}
		statuses := 0
		for _, e := range b.entries(id) {
			if e.Kind == "status" {
				statuses++
			}
		}
		if statuses != 1 {
			t.Errorf("its status was told %d times", statuses)
		}
	})
}

// A step may go on beside an open question: it is not broken off, or it would
// have its effect again.
func TestARunIsNotLetGoInTheMiddleOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		var built atomic.Int64
		b := newBench(t, photon("beside", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.begun.Add(1)
			defer p.gone.Add(1)
			answered := make(chan string, 1)
			generators.Go(yield, func(context.Context) {
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
		id := b.start("beside", "")
		askID, _ := b.asked(id, 0)
		time.Sleep(119 * time.Minute)
		if p.gone.Load() != 0 {
			t.Error("it was let go while it worked")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.gone.Load() != 1 {
			t.Error("it has nothing more to do, and is still in memory")
		}
		b.accept(askID, `{"name":"a"}`)
		if f := b.finished(id); string(f.Result) != `"a"` || built.Load() != 2 {
			t.Errorf("finished = %+v; two steps were done %d times", f, built.Load())
		}
	})
}

// A run that was taken up may need a while until it is where it was.
func TestARunIsNotLetGoInTheMiddleOfItsReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		b := newBench(t, photon("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.begun.Add(1)
			defer p.gone.Add(1)
			select {
			case <-time.After(30 * time.Minute):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			var first, second string
			err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
			return first + " " + second, err
		}, &generators.Options{Durable: true}))
		id := b.start("slow", "")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		first, seq := b.asked(id, 0)
		second, _ := b.asked(id, seq)
		b.accept(first, `{"first":"one"}`)
		time.Sleep(29 * time.Minute)
		if p.begun.Load() != 2 || p.gone.Load() != 1 {
			t.Errorf("it began %d times and was let go %d times, want 2 and 1", p.begun.Load(), p.gone.Load())
		}
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		if p.gone.Load() != 2 {
			t.Error("it has come to its question, and is not let go again")
		}
		b.accept(second, `{"second":"two"}`)
		time.Sleep(time.Hour)
		if f := b.finished(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
	})
}

func TestTheDeadlineOfAColdQuestionFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		b := newBench(t, p.photon(true, ask.Timeout(2*time.Hour)))
		id := b.start("patient", "")
		b.asked(id, 0)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if p.begun.Load() != 2 {
			t.Errorf("it began %d times, want twice: it was let go before its deadline", p.begun.Load())
		}
		if f := b.finished(id); f.Status != log.Failed || f.Error != ask.ErrTimeout.Error() {
			t.Errorf("finished = %+v", f)
		}
	})
}

func TestRunsThatAreNotDurableStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		b := newBench(t, p.photon(false))
		id := b.start("patient", "")
		b.asked(id, 0)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if p.gone.Load() != 0 {
			t.Error("a run that is not durable was let go")
		}
	})
}

func TestTooManyHotRunsAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true))
		o.Limits = run.Limits{HotMax: 10}
		b := open(t, o)
		var ids []string
		for range 30 {
			ids = append(ids, b.start("patient", ""))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if hot := p.begun.Load() - p.gone.Load(); hot != 10 {
			t.Errorf("%d runs wait in memory, want 10", hot)
		}
		for _, id := range ids {
			first, seq := b.asked(id, 0)
			b.accept(first, `{"first":"a"}`)
			second, _ := b.asked(id, seq)
			b.accept(second, `{"second":"b"}`)
			if f := b.finished(id); f.Status != log.Completed {
				t.Fatalf("finished = %+v", f)
			}
		}
		if p.stepped.Load() != 30 {
			t.Errorf("30 runs did %d steps", p.stepped.Load())
		}
	})
}

// Thousands may come at once, and nothing after them.
func TestTooManyHotRunsAreLetGoSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true))
		o.Limits = run.Limits{HotMax: 10}
		b := open(t, o)
		for range 30 {
			b.start("patient", "")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if hot := p.begun.Load() - p.gone.Load(); hot != 10 {
			t.Errorf("%d runs wait in memory, want 10", hot)
		}
	})
}

func TestARunThatTellsItsProgressWhileItWaitsIsNotLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, photon("busy", func(ctx context.Context, yield generators.Yield) (string, error) {
			p.begun.Add(1)
			defer p.gone.Add(1)
			generators.Go(yield, func(ctx context.Context) {
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
		o.Limits = run.Limits{HotMax: 1}
		b := open(t, o)
		for range 5 {
			b.asked(b.start("busy", ""), 0)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if p.gone.Load() != 0 {
			t.Errorf("%d of 5 runs that work were let go", p.gone.Load())
		}
	})
}

func TestAfterARestartRunsWaitCold(t *testing.T) {
	var p patient
	o := options(t, p.photon(true))
	before := open(t, o)
	id := before.start("patient", "")
	first, seq := before.asked(id, 0)
	before.close()
	after := open(t, o)
	if p.begun.Load() != 1 {
		t.Error("a run that waits was taken up before it was answered")
	}
	if err := after.Answer(t.Context(), me, first, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"first":"one"}`)}, "test"); err != nil {
		t.Fatal(err)
	}
	second, _ := after.asked(id, seq)
	after.accept(second, `{"second":"two"}`)
	if f := after.finished(id); string(f.Result) != `"one two"` {
		t.Errorf("finished = %+v", f)
	}
}
