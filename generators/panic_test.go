package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A panic ends the run. The error's text, which people see, doesn't disclose the
// cause, but the error has the value and the stack.
func TestPanicEndsTheRun(t *testing.T) {
	breakDown := func() { panic("disk on fire") }
	tests := map[string]*generators.Photon{
		"generator": photon(func(_ context.Context, yield generators.Yield) (int, error) {
			yield(generators.Status("on"))
			breakDown()
			return 1, nil
		}),
		"FromChan": generators.FromChan("p", func(_ context.Context, _ noInput, events chan<- generators.Event) (int, error) {
			events <- generators.Status("on")
			breakDown()
			return 1, nil
		}, nil),
		"step": photon(func(_ context.Context, yield generators.Yield) (int, error) {
			yield(generators.Status("on"))
			return generators.Step(yield, "s", func(context.Context) (int, error) { breakDown(); return 1, nil })
		}),
		"goroutine that the generator waits for": photon(func(_ context.Context, yield generators.Yield) (int, error) {
			yield(generators.Status("on"))
			var wg sync.WaitGroup
			wg.Add(1)
			generators.Go(yield, func(context.Context, generators.Yield) { defer wg.Done(); breakDown() })
			wg.Wait()
			return 1, nil
		}),
		"goroutine that nobody waits for": photon(func(ctx context.Context, yield generators.Yield) (int, error) {
			yield(generators.Status("on"))
			generators.Go(yield, func(ctx context.Context, _ generators.Yield) { <-ctx.Done(); breakDown() })
			return 1, nil
		}),
	}
	for name, p := range tests {
		t.Run(name, func(t *testing.T) {
			events, result, err := drive(t.Context(), p, nil)
			var panicked *driver.PanicError
			if !errors.As(err, &panicked) {
				t.Fatalf("the run ended with %v, result %q", err, result)
			}
			if got := statusTexts(events); len(got) != 1 {
				t.Errorf("the events before the panic are %q", got)
			}
			if panicked.Value != "disk on fire" || !strings.Contains(string(panicked.Stack), "TestPanicEndsTheRun") {
				t.Errorf("value %v, stack\n%s", panicked.Value, panicked.Stack)
			}
			if strings.Contains(err.Error(), "fire") {
				t.Errorf("the error discloses the cause: %q", err)
			}
		})
	}
}

// loopPhotons yield on different goroutines, and recover or panic when the loop body
// is left.
var loopPhotons = map[string]*generators.Photon{
	"the generator's own": photon(func(_ context.Context, yield generators.Yield) (int, error) {
		yield(generators.Status("on"))
		return 1, nil
	}),
	"a goroutine's": photon(func(ctx context.Context, yield generators.Yield) (int, error) {
		generators.Go(yield, func(_ context.Context, yield generators.Yield) { yield(generators.Status("on")) })
		<-ctx.Done()
		return 1, nil
	}),
	"a channel's": generators.FromChan("p", func(ctx context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		generators.Sender(ctx, events)(generators.Status("on"))
		return 1, nil
	}, nil),
	"one that recovers": photon(func(_ context.Context, yield generators.Yield) (int, error) {
		func() {
			defer func() { _ = recover() }()
			yield(generators.Status("on"))
		}()
		yield(generators.Status("again"))
		return 1, nil
	}),
	"one that panics in turn": photon(func(_ context.Context, yield generators.Yield) (int, error) {
		defer func() { panic("generator") }()
		yield(generators.Status("on"))
		return 1, nil
	}),
}

// A panic of the loop body reaches the ranging goroutine.
func TestBodyPanicReachesRangingGoroutine(t *testing.T) {
	for name, p := range loopPhotons {
		t.Run(name, func(t *testing.T) {
			times := 0
			defer func() {
				if v := recover(); v != "body" {
					t.Errorf("recovered %v, want the body's panic", v)
				}
				if times != 1 {
					t.Errorf("the body was called %d times, want once", times)
				}
			}()
			for range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
				times++
				panic("body")
			}
		})
	}
}

// A call of runtime.Goexit in the loop body, as by t.Fatal, ends the ranging goroutine,
// even if another goroutine yielded the event.
func TestBodyGoexitReachesRangingGoroutine(t *testing.T) {
	for name, p := range loopPhotons {
		if strings.Contains(name, "panics") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			left := make(chan string, 1)
			go func() {
				how := "exited"
				defer func() { left <- how }()
				defer func() {
					if v := recover(); v != nil {
						how = "panicked"
					}
				}()
				for range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
					runtime.Goexit()
				}
				how = "went on"
			}()
			if how := <-left; how != "exited" {
				t.Errorf("the ranging goroutine %s", how)
			}
		})
	}
}

// A generator that calls runtime.Goexit doesn't complete the run.
func TestGoexitOfTheGenerator(t *testing.T) {
	p := generators.FromChan("p", func(context.Context, noInput, chan<- generators.Event) (int, error) {
		runtime.Goexit()
		return 1, nil
	}, nil)
	if _, result, err := drive(t.Context(), p, nil); err == nil {
		t.Errorf("the run completed with %q", result)
	}
}
