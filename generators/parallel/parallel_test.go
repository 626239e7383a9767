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
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/internal/photontest"
	"github.com/photon-beam/beam/generators/parallel"
)

// script returns responses that answer every question, except for the changes.
func script(changes photontest.Script) photontest.Script {
	s := photontest.Script{
		"name":   photontest.Accept(`{"name":"Ada"}`),
		"color":  photontest.Accept(`{"color":"green"}`),
		"number": photontest.Accept(`{"number":7}`),
	}
	for key, response := range changes {
		s[key] = response
	}
	return s
}

func run(t *testing.T, changes photontest.Script) *photontest.Outcome {
	t.Helper()
	return photontest.Runner{Script: script(changes)}.Run(t, parallel.Photon, "{}")
}

func TestAnswers(t *testing.T) {
	p := run(t, nil)
	got := photontest.Decode[parallel.Answers](t, p)
	if want := (parallel.Answers{Name: "Ada", Color: "green", Number: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	photontest.CheckPhoton(t, parallel.Photon)
	photontest.GoldenPhoton(t, parallel.Photon, p)
}

// The error says which questions have no answer, and why.
func TestUnansweredQuestions(t *testing.T) {
	for want, response := range map[error]photontest.Response{
		ask.ErrDeclined: photontest.Decline(), ask.ErrCancelled: photontest.Cancel(),
		ask.ErrTimeout: photontest.Fail(ask.ErrTimeout), ask.ErrUnsupported: photontest.Fail(ask.ErrUnsupported),
	} {
		for _, key := range []string{"name", "color", "number"} {
			p := run(t, photontest.Script{key: response})
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
	p := run(t, photontest.Script{"name": photontest.Decline(), "number": photontest.Cancel()})
	if want := "not every question was answered: name: the question was declined; number: the question was cancelled"; p.Err == nil || p.Err.Error() != want {
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
			if p := run(t, photontest.Script{key: photontest.Accept(content)}); !errors.As(p.Err, &invalid) {
				t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
			}
		}
	}
	if _, err := parallel.Photon.Check(json.RawMessage(`{"name":"Ada"}`)); err == nil {
		t.Error("unknown arguments were accepted")
	}
}

// delayedAnswers answers each question after a delay.
type delayedAnswers map[string]time.Duration

func (s delayedAnswers) Ask(ctx context.Context, key string, _ *ask.Question) (ask.Answer, error) {
	select {
	case <-time.After(s[key]):
		return script(nil)[key].Answer, nil
	case <-ctx.Done():
		return ask.Answer{}, ctx.Err()
	}
}

// A progressLog has the progress events of a run and their times since its start.
type progressLog struct {
	began  time.Time
	at     []time.Duration
	events []*generators.ProgressEvent
}

func (b *progressLog) record(e generators.Event) {
	if e, ok := e.(*generators.ProgressEvent); ok {
		b.at, b.events = append(b.at, time.Since(b.began)), append(b.events, e)
	}
}

func (b *progressLog) last() generators.ProgressEvent { return *b.events[len(b.events)-1] }

// The progress bar runs until all three questions are settled.
func TestBarRunsWhileQuestionsAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &progressLog{began: time.Now()}
		d := ask.Driver{Provider: delayedAnswers{"name": 3 * time.Second, "color": 0, "number": 10100 * time.Millisecond}, Events: b.record}
		if _, err := d.Run(t.Context(), parallel.Photon, nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(b.began); took != 10100*time.Millisecond {
			t.Errorf("the questions weren't asked at once: the run took %v", took)
		}
		if len(b.events) != 42 { // one before, 40 in ten seconds, one after
			t.Errorf("%d progress events", len(b.events))
		}
		for i, e := range b.events[:len(b.events)-1] {
			if want := time.Duration(i) * time.Second / 4; b.at[i] != want || e.Done != want.Seconds() || e.Total != 60 {
				t.Errorf("event %d is %+v after %v", i, e, b.at[i])
			}
		}
		if got := b.last(); got.Done != 60 || got.Total != 60 {
			t.Errorf("the last event is %+v", got)
		}
	})
}

// The bar stops when it is full, even if the questions stay open for days, because
// every event is recorded.
func TestBarStopsWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &progressLog{began: time.Now()}
		d := ask.Driver{Provider: delayedAnswers{"number": 72 * time.Hour}, Events: b.record}
		if _, err := d.Run(t.Context(), parallel.Photon, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(b.events); n != 242 || b.events[240].Total != 0 || b.at[240] != time.Minute || b.last().Done != 60 {
			t.Errorf("%d events, the last is %+v", n, b.last())
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
			b := &progressLog{began: time.Now()}
			d := ask.Driver{Provider: delayedAnswers{"name": time.Second, "color": time.Hour, "number": time.Hour}, Events: b.record}
			_, err := d.Run(ctx, parallel.Photon, nil)
			if took := time.Since(b.began); !errors.Is(err, cause) || took != 1100*time.Millisecond {
				t.Errorf("the run ended after %v with %v, want %v", took, err, cause)
			}
			if len(b.events) != 5 {
				t.Errorf("%d progress events, want 5", len(b.events))
			}
		})
	}
}

func TestBreak(t *testing.T) {
	for range parallel.Photon.Run(t.Context(), json.RawMessage("{}")) {
		break // at the first event, before the bar runs
	}
	calls := 0
	for e := range parallel.Photon.Run(t.Context(), json.RawMessage("{}")) {
		if _, ok := e.(*generators.Call); ok {
			if calls++; calls == 2 {
				break
			}
		}
	}
	if calls != 2 {
		t.Errorf("%d calls before the loop was left, want 2", calls)
	}
}
