package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// outcomePhoton reports how its question was settled, and asks again.
var outcomePhoton = newPhoton("outcome", func(_ context.Context, yield generators.Yield) (string, error) {
	_, err := ask.Text(yield, "first", "First?")
	outcome := "answered"
	for name, known := range map[string]error{"unsupported": ask.ErrUnsupported, "invalid": ask.ErrInvalid, "timeout": ask.ErrTimeout, "stopped": ask.ErrStopped} {
		if errors.Is(err, known) {
			outcome = name + "; " + err.Error()
		}
	}
	yield(generators.Status(outcome))
	_, err = ask.Text(yield, "second", "Second?")
	return outcome, err
}, &generators.Options{Durable: true})

// A generator receives the same error when its question is withdrawn and when
// its run is resumed.
func TestWithdrawnQuestionFailsWithReason(t *testing.T) {
	for _, tt := range []struct {
		reason     runlog.WithdrawReason
		text, want string
	}{
		{runlog.Unsupported, "the client has no forms", "unsupported; nobody can be asked here: the client has no forms"},
		{runlog.Unsupported, "", "unsupported; nobody can be asked here"},
		{runlog.Invalid, "name must not be empty", "invalid; the answers did not fit the question: name must not be empty"},
		{runlog.Expired, "", "timeout; the question was not answered in time"},
	} {
		t.Run(string(tt.reason)+tt.text, func(t *testing.T) {
			o := testOptions(t, outcomePhoton)
			b := openTestEngine(t, o)
			id := b.startRun("outcome", "")
			first, seq := b.waitForAsk(id, 0)
			if err := b.Withdraw(t.Context(), me, first, tt.reason, tt.text); err != nil {
				t.Fatal(err)
			}
			b.waitForAsk(id, seq)
			b.closeNow()
			again := openTestEngine(t, o)
			second, _ := again.waitForAsk(id, seq)
			again.acceptAsk(second, `{"second":"x"}`)
			f := again.waitForEnd(id)
			if f.Status != runlog.Completed || string(f.Result) != string(mustMarshal(t, tt.want)) {
				t.Errorf("finished = %+v, want %q", f, tt.want)
			}
			statuses := 0
			for _, e := range again.entries(id) {
				if e.Kind == "status" {
					statuses++
				}
				if e.Kind == runlog.KindWithdrawn {
					if w, err := runlog.Decode[runlog.Withdrawn](e); err != nil || w != (runlog.Withdrawn{AskSeq: seq, Reason: tt.reason, Error: tt.text}) {
						t.Errorf("recorded: %+v, %v", w, err)
					}
				}
			}
			if statuses != 1 {
				t.Errorf("the outcome was recorded %d times, want once", statuses)
			}
		})
	}
}

func mustMarshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestWithdrawRefuses(t *testing.T) {
	b := newTestEngine(t, outcomePhoton)
	id := b.startRun("outcome", "")
	first, seq := b.waitForAsk(id, 0)
	withdraw := func(who generators.Caller, askID string) error {
		return b.Withdraw(t.Context(), who, askID, runlog.Unsupported, strings.Repeat("long ", 10_000))
	}
	for _, tt := range []struct {
		name string
		who  generators.Caller
		ask  string
		want error
	}{
		{"garbage", me, "garbage", engine.ErrAskNotFound},
		{"another run", me, runlog.AskID("00", seq), engine.ErrAskNotFound},
		{"an entry that is no ask", me, runlog.AskID(id, 1), engine.ErrAskNotFound},
		{"another's", generators.Caller{ID: "session:you"}, first, engine.ErrForbidden},
		{"an open one", me, first, nil},
		{"again", me, first, engine.ErrSettled},
	} {
		if err := withdraw(tt.who, tt.ask); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if err := b.Answer(t.Context(), me, first, askdata.Answer{Action: askdata.Decline}, "test"); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("answering afterwards: %v", err)
	}
	w, err := runlog.Decode[runlog.Withdrawn](b.waitForEntry(id, seq, runlog.KindWithdrawn))
	if err != nil || len(w.Error) > 5<<10 {
		t.Errorf("%d bytes of text were recorded (%v)", len(w.Error), err)
	}
	second, _ := b.waitForAsk(id, seq)
	if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Fatal(err)
	}
	if err := withdraw(me, second); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("after the end of the run: %v", err)
	}
}

// The log marks questions that were asked together, even if some were rejected.
func TestAskTogetherIsMarkedInTheLog(t *testing.T) {
	b := newTestEngine(t, newPhoton("round", func(_ context.Context, yield generators.Yield) (int, error) {
		var x, y, z string
		err := ask.All(yield, ask.ForText("x", "m").Into(&x), ask.ForText("y", "m").Into(&y), ask.ForText("z", "m").Into(&z))
		return 0, err
	}, nil))
	id := b.startRun("round", "")
	var more []bool
	var seq uint64
	for range 3 {
		e := b.waitForEntry(id, seq, runlog.KindAsked)
		a, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			t.Fatal(err)
		}
		more, seq = append(more, a.More), e.Seq
	}
	if len(more) != 3 || !more[0] || !more[1] || more[2] {
		t.Errorf("more = %v", more)
	}
}

// A generator that takes its question back gets an error of its own, and surfaces are
// told the reason.
func TestGeneratorWithdrawsItsQuestion(t *testing.T) {
	photon := newPhoton("fickle", func(_ context.Context, yield generators.Yield) (string, error) {
		var call *driver.Call
		done := make(chan error)
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			_, err := ask.Text(func(e generators.Event) bool {
				more := yield(e)
				if c, ok := driver.CallOf(e); ok {
					call = c
					done <- nil
				}
				return more
			}, "first", "First?")
			done <- err
		})
		<-done
		call.Withdraw("it was cancelled elsewhere")
		err := <-done
		if !errors.Is(err, driver.ErrWithdrawn) {
			return "", err
		}
		return err.Error(), nil
	}, nil)
	b := openTestEngine(t, testOptions(t, photon))
	id := b.startRun("fickle", "")
	f := b.waitForEnd(id)
	if want := `"the question was withdrawn: it was cancelled elsewhere"`; string(f.Result) != want {
		t.Errorf("the result is %s, want %s", f.Result, want)
	}
	for _, e := range b.entries(id) {
		if w, err := runlog.Decode[runlog.Withdrawn](e); e.Kind == runlog.KindWithdrawn && (err != nil || w.Reason != runlog.TakenBack || w.Error != "it was cancelled elsewhere") {
			t.Errorf("the entry is %+v", w)
		}
	}
}
