package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// maxStopDelay bounds the time from a stop until every observer sees the end.
const maxStopDelay = 100 * time.Millisecond

// stoppableTools are photons that work or wait in different ways and return
// when they are stopped.
var stoppableTools = map[string]func(context.Context, generators.Yield) (string, error){
	"waits for a person": func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Who?")
	},
	"waits for several answers": func(_ context.Context, yield generators.Yield) (string, error) {
		var a, b string
		return a + b, ask.All(yield, ask.ForText("a", "A?").Into(&a), ask.ForText("b", "B?").Into(&b))
	},
	"watches its context": func(ctx context.Context, _ generators.Yield) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	},
	"talks without end": func(_ context.Context, yield generators.Yield) (string, error) {
		for yield(generators.Status("and then")) {
			time.Sleep(time.Millisecond) // in a bubble
		}
		return "", nil
	},
	"works in a step that fails again and again": func(_ context.Context, yield generators.Yield) (string, error) {
		return generators.Step(yield, "work", func(context.Context) (string, error) { return "", context.DeadlineExceeded },
			generators.Retries(100, time.Hour))
	},
	"asks while it works": func(ctx context.Context, yield generators.Yield) (string, error) {
		generators.Go(yield, func(ctx context.Context, yield generators.Yield) {
			for yield(generators.Busy("working")) {
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
		return ask.Text(yield, "name", "Who?")
	},
}

// TestStopIsSeenSoon checks that a stop is soon seen by a follower, in the
// run's state, and by the generator.
func TestStopIsSeenSoon(t *testing.T) {
	for name, fn := range stoppableTools {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				returned := make(chan time.Time, 1)
				b := newTestEngine(t, newPhoton("busy", func(ctx context.Context, yield generators.Yield) (string, error) {
					defer func() { returned <- time.Now() }()
					return fn(ctx, yield)
				}, nil))
				id := b.startRun("busy", "")
				time.Sleep(5 * time.Second) // until it works or waits
				seen := make(chan time.Time, 1)
				go func() {
					if f := b.waitForEnd(id); f.Status != runlog.Stopped {
						t.Errorf("a follower saw the status %s", f.Status)
					}
					seen <- time.Now()
				}()
				synctest.Wait()
				pressed := time.Now()
				if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
					t.Fatal(err)
				}
				if info, err := b.Info(me, id); err != nil || !info.State.Ended() || info.Asks != nil {
					t.Errorf("immediately after the stop, the run is %+v, %v", info, err)
				}
				if took := (<-seen).Sub(pressed); took > maxStopDelay {
					t.Errorf("a follower saw the end after %v", took)
				}
				if took := (<-returned).Sub(pressed); took > maxStopDelay {
					t.Errorf("the generator returned after %v", took)
				}
			})
		})
	}
}

// BenchmarkStop measures the time from a stop until a follower has the end, in
// real time.
func BenchmarkStop(b *testing.B) {
	e := newTestEngine(b, newPhoton("busy", stoppableTools["waits for a person"], nil))
	for b.Loop() {
		b.StopTimer()
		id := e.startRun("busy", "")
		e.waitForEntry(id, 0, runlog.KindAsked)
		b.StartTimer()
		if err := e.Cancel(b.Context(), me, id, "browser"); err != nil {
			b.Fatal(err)
		}
		e.waitForEnd(id)
	}
}
