package generators_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// The events of several goroutines arrive one at a time. Those of one goroutine are
// in order, and none is lost.
func TestConcurrentYields(t *testing.T) {
	const workers, each = 20, 200
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		var all sync.WaitGroup
		for w := range workers {
			all.Add(1)
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				defer all.Done()
				for i := range each {
					yield(generators.Progress(float64(i), each, fmt.Sprint(w)))
				}
			})
		}
		all.Wait()
		return 0, nil
	})
	next := make(map[string]float64)
	inBody := 0
	for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
		if inBody++; inBody != 1 {
			t.Fatal("the loop body runs twice at once")
		}
		if e, ok := e.(*generators.ProgressEvent); ok {
			if e.Done != next[e.Text] {
				t.Fatalf("worker %s: event %v, want %v", e.Text, e.Done, next[e.Text])
			}
			next[e.Text]++
		}
		inBody--
	}
	for w := range workers {
		if next[fmt.Sprint(w)] != each {
			t.Errorf("worker %d: %v events of %d", w, next[fmt.Sprint(w)], each)
		}
	}
}

// One goroutine reports progress while another waits for an answer.
func TestProgressWhileAQuestionIsOpen(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (string, error) {
		generators.Go(yield, func(ctx context.Context, yield generators.Yield) {
			for i := range 3 {
				yield(generators.Progress(float64(i+1), 3, ""))
			}
		})
		return askText(yield, "name")
	})
	var open *driver.Call
	seen := 0
	var result string
	for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *driver.Call:
			if !e.Concurrent {
				t.Error("a call that is made after Go isn't marked as concurrent")
			}
			open = e
		case *generators.ProgressEvent:
			seen++
		case *generators.Result:
			result = string(e.Value)
		}
		if open != nil && seen == 3 {
			open.Settle(valueReply(`"ada"`))
		}
	}
	if seen != 3 || result != `"\"ada\""` {
		t.Errorf("%d progress events, result %s", seen, result)
	}
}

// A run waits for its goroutines, whose context ends when the generator returns.
func TestRunWaitsForGoroutines(t *testing.T) {
	for _, leave := range []bool{false, true} {
		t.Run(fmt.Sprintf("leave=%v", leave), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running atomic.Int32
				p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
					for range 3 {
						running.Add(1)
						generators.Go(yield, func(ctx context.Context, _ generators.Yield) {
							defer running.Add(-1)
							<-ctx.Done()
							time.Sleep(time.Minute)
						})
					}
					yield(generators.Status("on"))
					return 1, nil
				})
				for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
					if err != nil {
						t.Fatal(err)
					}
					if _, ok := e.(*generators.Result); ok && running.Load() > 0 {
						t.Error("the result was delivered while goroutines were running")
					}
					if leave {
						break
					}
				}
				if n := running.Load(); n > 0 {
					t.Errorf("%d goroutines are running after the end of the run", n)
				}
			})
		})
	}
}

// Go works over a channel, too. Calls are marked as concurrent only after it.
func TestGoThroughSender(t *testing.T) {
	p := generators.FromChan("p", func(ctx context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		yield := generators.Sender(ctx, events)
		if _, err := askText(yield, "before"); err != nil {
			return 0, err
		}
		done := make(chan struct{})
		if !generators.Go(yield, func(_ context.Context, yield generators.Yield) { defer close(done); yield(generators.Status("beside")) }) {
			return 0, generators.ErrStopped
		}
		<-done
		_, err := askText(yield, "after")
		return 1, err
	}, nil)
	concurrent := map[string]bool{}
	events, _, err := drive(t.Context(), p, func(c *driver.Call) driver.Reply {
		concurrent[c.Key] = c.Concurrent
		return valueReply("1")
	})
	if err != nil || len(statusTexts(events)) != 1 {
		t.Errorf("events %q, error %v", statusTexts(events), err)
	}
	if concurrent["before"] || !concurrent["after"] {
		t.Errorf("concurrent = %v", concurrent)
	}
}

// After the end of the run, a Sender returns false instead of blocking.
func TestSenderAfterTheRun(t *testing.T) {
	var late generators.Yield
	p := generators.FromChan("p", func(ctx context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		late = generators.Sender(ctx, events)
		return 1, nil
	}, nil)
	if _, _, err := drive(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	if late(generators.Status("late")) {
		t.Error("the Sender returned true")
	}
}

// Goroutines are named by their parents and their numbers there. What a step starts counts
// as the goroutine of the step, which is the same when a replay skips the step.
func TestNamesOfGoroutines(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		start := func(yield generators.Yield, fn func(generators.Yield)) {
			done := make(chan struct{})
			generators.Go(yield, func(_ context.Context, yield generators.Yield) { defer close(done); fn(yield) })
			<-done
		}
		say := func(yield generators.Yield) { yield(generators.Status("said")) }
		say(yield)
		_, err := generators.Step(yield, "step", func(context.Context) (int, error) { start(yield, say); return 1, nil })
		for range 2 {
			start(yield, func(yield generators.Yield) { start(yield, say); say(yield) })
		}
		say(yield)
		return 1, err
	})
	run := driver.Prepare(t.Context(), p, json.RawMessage("{}"))
	var names []string
	for e, err := range run.All {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(*generators.StatusEvent); ok {
			names = append(names, run.Goroutine())
		}
	}
	if got, want := fmt.Sprintf("%q", names), `["" "" "1.1" "1" "2.1" "2" ""]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// In a run that is replayed, a call gets the key that was recorded for its goroutine, or
// one that the log doesn't have.
func TestRecordedKeys(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		for range 2 {
			done := make(chan error)
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				_, err := askText(yield, "name")
				done <- err
			})
			if err := <-done; err != nil {
				return 0, err
			}
		}
		_, err := askText(yield, "name")
		return 1, err
	})
	run := driver.Prepare(t.Context(), p, json.RawMessage("{}"))
	run.SetRecordedKeys([]string{"name", "name#2"}, func(goroutine, given string) string {
		return map[string]string{"1": given + "#2", "2": given}[goroutine]
	})
	var keys []string
	for e, err := range run.All {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := driver.CallOf(e); ok {
			keys = append(keys, c.Key+" of "+c.GivenKey)
			c.Settle(valueReply(`"x"`))
		}
	}
	if got, want := fmt.Sprintf("%q", keys), `["name#2 of name" "name of name" "name#3 of name"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
