package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// Leaving the loop makes yield return false, ends the context, and waits until the
// generator has returned.
func TestBreakStopsTheGenerator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		p := photon(func(ctx context.Context, yield generators.Yield) (int, error) {
			defer func() { order = append(order, "deferred") }()
			yield(generators.Status("go on"))
			if yield(generators.Status("leave")) {
				t.Error("yield returned true after the loop was left")
			}
			order = append(order, "yield was false")
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), generators.ErrStopped) {
				t.Errorf("the cause is %v", context.Cause(ctx))
			}
			time.Sleep(time.Hour) // a slow cleanup
			order = append(order, "tidied up")
			return 1, nil
		})
		start := time.Now()
		for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
			if err != nil {
				t.Fatal(err)
			}
			if e.(*generators.StatusEvent).Text == "leave" {
				break
			}
		}
		order = append(order, "left")
		want := []string{"yield was false", "tidied up", "deferred", "left"}
		if len(order) != len(want) {
			t.Fatalf("got %q, want %q", order, want)
		}
		for i := range want {
			if order[i] != want[i] {
				t.Errorf("got %q, want %q", order, want)
				break
			}
		}
		if time.Since(start) != time.Hour {
			t.Errorf("leaving the loop took %v", time.Since(start))
		}
	})
}

// The end of the context ends the run. Waiting calls and the driver get the cause.
func TestContextEndsARun(t *testing.T) {
	tests := []struct {
		name  string
		cause error
		want  error
	}{
		{"no cause", nil, generators.ErrStopped},
		{"suspended", generators.ErrSuspended, generators.ErrSuspended},
		{"time limit", generators.ErrTimeLimit, generators.ErrTimeLimit},
		{"stopped", generators.ErrStopped, generators.ErrStopped},
		{"another cause", errors.New("shutting down"), generators.ErrStopped},
		{"wrapped", errors.Join(errors.New("parked"), generators.ErrSuspended), generators.ErrSuspended},
	}
	waits := map[string]func(context.Context, generators.Yield) error{
		"call": func(_ context.Context, yield generators.Yield) error { _, err := askText(yield, "k"); return err },
		"step": func(_ context.Context, yield generators.Yield) error {
			_, err := generators.Step(yield, "k", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
			return err
		},
		"work": func(ctx context.Context, yield generators.Yield) error {
			yield(generators.Status("k"))
			<-ctx.Done()
			return ctx.Err()
		},
	}
	for _, tt := range tests {
		for kind, wait := range waits {
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					go func() {
						synctest.Wait() // until it waits
						cancel(tt.cause)
					}()
					var got error
					_, _, err := drive(ctx, photon(func(ctx context.Context, yield generators.Yield) (int, error) {
						got = wait(ctx, yield)
						return 0, got
					}), nil)
					if !errors.Is(err, tt.want) {
						t.Errorf("the run ended with %v, want %v", err, tt.want)
					}
					if kind != "work" && !errors.Is(got, tt.want) {
						t.Errorf("the generator got %v, want %v", got, tt.want)
					}
				})
			})
		}
	}
}

// A generator that ignores the stop and returns a value doesn't complete the run.
func TestStoppedRunHasNoResult(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		cancel(generators.ErrSuspended)
		if yield(generators.Status("unheard")) {
			t.Error("yield returned true after the context ended")
		}
		return 1, nil
	})
	events, result, err := drive(ctx, p, nil)
	if len(events) > 0 || result != "" || !errors.Is(err, generators.ErrSuspended) {
		t.Errorf("got %d events, result %q, error %v", len(events), result, err)
	}
	if _, _, err := drive(ctx, p, nil); !errors.Is(err, generators.ErrSuspended) {
		t.Errorf("a run whose context had ended before ended with %v", err)
	}
}

// After the end of the run, yield returns false on every goroutine and doesn't panic.
func TestYieldAfterTheEnd(t *testing.T) {
	for _, how := range []string{"returned", "left", "failed"} {
		t.Run(how, func(t *testing.T) {
			var kept generators.Yield
			p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
				kept = yield
				yield(generators.Status("on"))
				if how == "failed" {
					panic("broken")
				}
				return 1, nil
			})
			for e := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
				if _, ok := e.(*generators.StatusEvent); ok && how == "left" {
					break
				}
			}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if kept(generators.Status("late")) || kept(nil) || generators.Go(kept, func(context.Context, generators.Yield) {}) {
						t.Error("yield returned true after the end")
					}
					if _, err := askText(kept, "k"); !errors.Is(err, generators.ErrStopped) {
						t.Errorf("asking after the end returned %v", err)
					}
				})
			}
			all.Wait()
		})
	}
}
