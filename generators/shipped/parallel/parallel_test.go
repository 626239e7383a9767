package parallel_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/parallel"
	"github.com/photon-beam/beam/internal/driver"
)

// script returns responses that answer every question, except for the changes.
func script(changes beamtest.Script) beamtest.Script {
	s := beamtest.Script{
		"name":   beamtest.Accept("Ada"),
		"color":  beamtest.Accept("green"),
		"number": beamtest.Accept(7),
	}
	for key, response := range changes {
		s[key] = response
	}
	return s
}

func run(t *testing.T, changes beamtest.Script) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, parallel.Photon, "{}", script(changes))
}

func TestAnswers(t *testing.T) {
	p := run(t, nil)
	got := beamtest.Decode[parallel.Answers](t, p)
	if want := (parallel.Answers{Name: "Ada", Color: "green", Number: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The error says which questions have no answer, and why.
func TestUnansweredQuestions(t *testing.T) {
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(),
		ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout), ask.ErrUnsupported: beamtest.Fail(ask.ErrUnsupported),
	} {
		for _, key := range []string{"name", "color", "number"} {
			p := run(t, beamtest.Script{key: response})
			if !errors.Is(p.Err, want) || p.Result != nil {
				t.Errorf("%s: got %s, %v; want %v", key, p.Result, p.Err, want)
			}
			if text := "not every question was answered: " + key + ": " + want.Error(); p.Err.Error() != text {
				t.Errorf("%s: the error is %q, want %q", key, p.Err, text)
			}
			if len(p.Asked) != 3 {
				t.Errorf("%s: %d questions were asked", key, len(p.Asked))
			}
		}
	}
	p := run(t, beamtest.Script{"name": beamtest.Decline(), "number": beamtest.Cancel()})
	if want := "not every question was answered: name: the question was declined; number: the question was dismissed"; p.Err == nil || p.Err.Error() != want {
		t.Errorf("got %v, want %s", p.Err, want)
	}
}

func TestInvalidAnswers(t *testing.T) {
	for key, contents := range map[string][]string{
		"name":   {`{"name":""}`, `{"name":"` + strings.Repeat("x", 81) + `"}`, `{}`},
		"color":  {`{"color":"Red"}`, `{"color":"yellow"}`, `{}`},
		"number": {`{"number":0}`, `{"number":11}`, `{"number":2.5}`, `{"number":"two"}`},
	} {
		for _, content := range contents {
			var invalid *generators.InvalidError
			if p := run(t, beamtest.Script{key: beamtest.Accept(json.RawMessage(content))}); !errors.As(p.Err, &invalid) {
				t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
			}
		}
	}
	if _, err := parallel.Photon.Check(json.RawMessage(`{"name":"Ada"}`)); err == nil {
		t.Error("unknown arguments were accepted")
	}
}

// after returns the script's answers, with delays.
func after(delays map[string]time.Duration) beamtest.Script {
	s := script(nil)
	for key, delay := range delays {
		s[key] = s[key].After(delay)
	}
	return s
}

// progress returns an event of the bar.
func progress(t *testing.T, e generators.Event) generators.ProgressEvent {
	t.Helper()
	p, ok := e.(*generators.ProgressEvent)
	if !ok {
		t.Fatalf("%+v is no progress", e)
	}
	return *p
}

func TestReplay(t *testing.T) {
	beamtest.Replay(t, parallel.Photon, nil, script(nil))
}

// The progress bar runs until all three questions are settled.
func TestBarRunsWhileQuestionsAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := beamtest.Run(t, parallel.Photon, nil, after(map[string]time.Duration{"name": 3 * time.Second, "number": 10100 * time.Millisecond}))
		if took := time.Since(began); p.Err != nil || took != 10100*time.Millisecond {
			t.Errorf("the questions weren't asked at once: the run took %v (%v)", took, p.Err)
		}
		if len(p.Events) != 42 { // one before, 40 in ten seconds, one after
			t.Fatalf("%d progress events", len(p.Events))
		}
		for i, event := range p.Events[:41] {
			e, want := progress(t, event), time.Duration(i)*time.Second/4
			if p.At[i] != want || e.Done != want.Seconds() || e.Total != 60 {
				t.Errorf("event %d is %+v after %v", i, e, p.At[i])
			}
		}
		if last := progress(t, p.Events[41]); last.Done != 60 || last.Total != 60 {
			t.Errorf("the last event is %+v", last)
		}
	})
}

// The bar stops when it is full, even if the questions stay open for days, because
// every event is recorded.
func TestBarStopsWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := beamtest.Run(t, parallel.Photon, nil, after(map[string]time.Duration{"number": 72 * time.Hour}))
		if n := len(p.Events); n != 242 || p.Err != nil {
			t.Fatalf("%d events, %v", n, p.Err)
		}
		if full, last := progress(t, p.Events[240]), progress(t, p.Events[241]); full.Total != 0 || p.At[240] != time.Minute || last.Done != 60 {
			t.Errorf("the bar ends with %+v after %v and %+v", full, p.At[240], last)
		}
	})
}

// A stop ends the run, the bar and the questions at once.
func TestStop(t *testing.T) {
	for _, cause := range []error{generators.ErrStopped, generators.ErrSuspended} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			time.AfterFunc(1100*time.Millisecond, func() { stop(cause) })
			began := time.Now()
			delayed := after(map[string]time.Duration{"name": time.Second, "color": time.Hour, "number": time.Hour})
			p := beamtest.RunContext(ctx, t, parallel.Photon, nil, delayed)
			if took := time.Since(began); !errors.Is(p.Err, cause) || took != 1100*time.Millisecond {
				t.Errorf("the run ended after %v with %v, want %v", took, p.Err, cause)
			}
			if len(p.Events) != 5 {
				t.Errorf("%d progress events, want 5", len(p.Events))
			}
		})
	}
}

func TestBreak(t *testing.T) {
	for range driver.Prepare(t.Context(), parallel.Photon, json.RawMessage("{}")).All {
		break // at the first event, before the bar runs
	}
	calls := 0
	for e := range driver.Prepare(t.Context(), parallel.Photon, json.RawMessage("{}")).All {
		if _, ok := driver.CallOf(e); ok {
			if calls++; calls == 2 {
				break
			}
		}
	}
	if calls != 2 {
		t.Errorf("%d calls before the loop was left, want 2", calls)
	}
}
