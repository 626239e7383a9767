package beamtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

var bothNames = beamtest.Script{"first": beamtest.Accept("Ada"), "second": beamtest.Accept("Bob"), "secret": beamtest.Accept("hunter2")}

// step runs a step that returns v.
func step[T any](yield generators.Yield, key string, v func() T) T {
	got, err := generators.Step(yield, key, func(context.Context) (T, error) { return v(), nil })
	if err != nil {
		panic(err) // it can't fail
	}
	return got
}

// A photon with everything that makes replay hard, and no fault.
func TestReplay(t *testing.T) {
	var runs, steps atomic.Int32
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		runs.Add(1)
		yield(generators.Status("begun"))
		number := step(yield, "draw", rand.Int64) // differs in each run
		secret, err := ask.Secret(yield, "secret", "Secret?")
		if err != nil {
			return "", err
		}
		_, failure := generators.Step(yield, "fail", func(context.Context) (int, error) { steps.Add(1); return 0, fmt.Errorf("no luck") })
		yield(generators.Markdown("Large", strings.Repeat("text ", 100_000)))
		large := step(yield, "large", func() string { return strings.Repeat("value ", 100_000) })
		var first, second string
		err = ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
		yield(generators.Progress(1, 1, "done"))
		return fmt.Sprintln(number != 0, secret, failure, len(large), first, second), err
	})
	o := beamtest.Replay(t, p, nil, bothNames)
	if got := beamtest.Decode[string](t, o); got != "true hunter2 no luck 600000 Ada Bob\n" {
		t.Errorf("got %q", got)
	}
	// It ran once for the test, once without a crash, and after the start, 3 steps, 3
	// questions and 3 answers; and five times to see that the number varies, at most.
	if n := runs.Load(); n < 12 || n > 17 {
		t.Errorf("it ran %d times", n)
	}
	if n := steps.Load(); n < 4 || n > 10 {
		t.Errorf("the step ran %d times", n)
	}
}

// Replay names the crash and the difference.
func TestReplayFindsWhatIsNotDeterministic(t *testing.T) {
	askName := func(yield generators.Yield, key, message string) string {
		name, err := ask.Text(yield, key, message)
		if err != nil {
			return err.Error()
		}
		return name
	}
	var runs atomic.Int64
	for name, test := range map[string]struct {
		run  func(generators.Yield) any
		want []string
	}{
		"question": {
			func(yield generators.Yield) any {
				return askName(yield, "first", fmt.Sprint("Number ", runs.Add(1), "?"))
			},
			[]string{`After a crash when it had started:`, `it asks "first": {"kind":"text","message":"Number `},
		},
		"what a question shows": {
			func(yield generators.Yield) any {
				plan := strings.Repeat("CREATE TABLE t;\n", 100) + fmt.Sprint("-- run ", runs.Add(1))
				_, err := ask.Text(yield, "first", "?", ask.Showing(generators.Code("plan", "sql", plan)))
				return err == nil
			},
			[]string{`After a crash when it had started:`, `it asks "first": … `, `CREATE TABLE t;\n-- run `},
		},
		"result": {
			func(yield generators.Yield) any { askName(yield, "first", "?"); return rand.Int64() },
			[]string{`After a crash when it had started:`, "it returned "},
		},
		"event": {
			func(yield generators.Yield) any {
				askName(yield, "first", "?")
				yield(generators.Statusf("run %d", runs.Add(1)))
				return nil
			},
			[]string{`it yields a status event: {"level":"info","text":"run `},
		},
		"missing event": {
			func(yield generators.Yield) any {
				yield(generators.Status("always"))
				if runs.Add(1) <= 2 {
					yield(generators.Status("at first"))
				}
				return nil
			},
			[]string{"\tit returned null\nwithout a crash:\n\tit yields a status event"},
		},
		"order of calls": {
			func(yield generators.Yield) any {
				keys := []string{"first", "second"}
				if runs.Add(1) > 3 { // after the run with a crash at the start
					keys = []string{"second", "first"}
				}
				return askName(yield, keys[0], "?") + askName(yield, keys[1], "?")
			},
			[]string{`when it had asked "first":`, `it failed: the tool is not deterministic: it now makes the call "second" (text), but the log has "first" (text)`},
		},
		"what a step leaves behind": {
			func(yield generators.Yield) any {
				var plan []string
				step(yield, "plan", func() int { plan = append(plan, "a"); return 1 })
				askName(yield, "first", "?")
				return step(yield, "apply", func() int { return len(plan) })
			},
			[]string{`when step "plan" was recorded:`, `step "apply" records 0`, `step "apply" records 1`},
		},
		"sleep": {
			func(yield generators.Yield) any {
				key := "short"
				if runs.Add(1) > 3 { // after the run with a crash at the start
					key = "long"
				}
				return generators.Sleep(yield, key, time.Hour)
			},
			[]string{`when the sleep "short" had begun:`, `it failed: the tool is not deterministic: it now makes the call "long" (sleep), but the log has "short" (sleep)`},
		},
		"panic": {
			func(yield generators.Yield) any {
				var plan *string
				step(yield, "plan", func() int { plan = new("a"); return 1 })
				return *plan
			},
			[]string{`when step "plan" was recorded:`, "it failed: the tool failed: it panicked", "panic: runtime error: invalid memory address", "replay_test.go"},
		},
		"another question": {
			func(yield generators.Yield) any {
				if runs.Add(1) > 2 {
					askName(yield, "third", "?")
				}
				return askName(yield, "first", "?")
			},
			[]string{`the photon asked "third" (text: ?), and the script only answers "first", "second", "secret".`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs.Store(0)
			p := newPhoton(func(_ context.Context, yield generators.Yield) (any, error) { return test.run(yield), nil })
			said := failures(t, func(t testing.TB) { beamtest.Replay(t, p, nil, bothNames) })
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("it says:\n%s\nwant:\n%s", said, want)
				}
			}
		})
	}
}

// Sleeps take no time.
func TestReplaySkipsSleeps(t *testing.T) {
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		if err := generators.Sleep(yield, "night", 8*time.Hour); err != nil {
			return "", err
		}
		name, err := ask.Text(yield, "first", "?")
		if err != nil {
			return "", err
		}
		return name, generators.SleepUntil(yield, "far", time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC))
	})
	began := time.Now()
	if got := beamtest.Decode[string](t, beamtest.Replay(t, p, nil, bothNames)); got != "Ada" {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// Goroutines make their calls in any order, which is no difference.
func TestReplayOfGoroutines(t *testing.T) {
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		names := make([]string, 2)
		done := make(chan struct{}, 2)
		for i, key := range []string{"first", "second"} {
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				defer func() { done <- struct{}{} }()
				yield(generators.Status("asking " + key))
				names[i], _ = ask.Text(yield, key, "?")
				step(yield, "save "+key, func() int { return i })
			})
		}
		<-done
		<-done
		return strings.Join(names, " "), nil
	})
	for range 5 {
		if got := beamtest.Decode[string](t, beamtest.Replay(t, p, nil, bothNames)); got != "Ada Bob" {
			t.Errorf("got %q", got)
		}
	}
}

// The events of each goroutine are compared.
func TestReplayComparesEventsOfGoroutines(t *testing.T) {
	var runs atomic.Int64
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		done := make(chan string)
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			name, _ := ask.Text(yield, "first", "?")
			yield(generators.Statusf("%s came in %s", name, []string{"red", "blue"}[min(runs.Add(1)-1, 3)/3]))
			done <- name
		})
		return <-done, nil
	})
	said := failures(t, func(t testing.TB) { beamtest.Replay(t, p, nil, bothNames) })
	if want := `it yields a status event: {"level":"info","text":"Ada came in blue"}`; !strings.Contains(said, want) {
		t.Errorf("it says:\n%s\nwant:\n%s", said, want)
	}
}

func TestWhatReplayRefuses(t *testing.T) {
	asks := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) { return ask.Text(yield, "first", "?") })
	for want, do := range map[string]func(testing.TB){
		"photon quick is not durable": func(t testing.TB) {
			beamtest.Replay(t, generators.New("quick", func(context.Context, none, generators.Yield) (none, error) { return none{}, nil }, nil), nil, nil)
		},
		"photon photon does not take the arguments": func(t testing.TB) { beamtest.Replay(t, asks, `{"a":1}`, nil) },
		`no surface can end a question with the error "no luck"`: func(t testing.TB) {
			beamtest.Replay(t, asks, nil, beamtest.Script{"first": beamtest.Fail(fmt.Errorf("no luck"))})
		},
	} {
		if said := failures(t, do); !strings.Contains(said, want) {
			t.Errorf("it says:\n%s\nwant:\n%s", said, want)
		}
	}
}

// Replay gives a photon the folder of the test's context.
func TestReplayHasTheRoot(t *testing.T) {
	p := newPhoton(func(ctx context.Context, yield generators.Yield) (string, error) {
		root, _ := generators.Root(ctx)
		return root, nil
	})
	if got := beamtest.Decode[string](t, beamtest.Replay(rootedTest{t, "/srv"}, p, nil, nil)); got != "/srv" {
		t.Errorf("got %q", got)
	}
}

// rootedTest is a test whose context has a folder to read.
type rootedTest struct {
	testing.TB
	root string
}

func (r rootedTest) Context() context.Context { return beamtest.WithRoot(r.TB.Context(), r.root) }

// A photon that distinguishes callers behaves the same with and without a log.
func TestReplayHasACaller(t *testing.T) {
	p := generators.New("callers", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		var confirmed, declined, expired generators.Caller
		if _, err := ask.Confirm(yield, "yes", "Yes?", ask.AnsweredBy(&confirmed)); err != nil {
			return "", err
		}
		_, err := ask.Confirm(yield, "no", "No?", ask.AnsweredBy(&declined))
		if !errors.Is(err, ask.ErrDeclined) {
			return "", err
		}
		if _, err = ask.Confirm(yield, "late", "Late?", ask.AnsweredBy(&expired)); !errors.Is(err, ask.ErrTimeout) {
			return "", err
		}
		return strings.Join([]string{generators.CallerOf(ctx).ID, confirmed.ID, declined.ID, expired.ID}, " "), nil
	}, &generators.Options{Durable: true, Allow: func(generators.Caller) error { return errors.New("nobody may") }})
	o := beamtest.Replay(t, p, nil, beamtest.Script{"yes": beamtest.Accept(true), "no": beamtest.Decline(), "late": beamtest.Fail(ask.ErrTimeout)})
	if got := beamtest.Decode[string](t, o); got != "test test test " {
		t.Errorf("got %q", got)
	}
}
