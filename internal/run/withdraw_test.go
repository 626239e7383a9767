package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// outcome is a photon that tells how its question ended, and asks on.
var outcome = photon("outcome", func(_ context.Context, yield generators.Yield) (string, error) {
	_, err := ask.Text(yield, "first", "First?")
	told := "answered"
	for name, known := range map[string]error{"unsupported": ask.ErrUnsupported, "invalid": ask.ErrInvalid, "timeout": ask.ErrTimeout, "stopped": ask.ErrStopped} {
		if errors.Is(err, known) {
			told = name + "; " + err.Error()
		}
	}
	yield(generators.Status(told))
	_, err = ask.Text(yield, "second", "Second?")
	return told, err
}, &generators.Options{Durable: true})

// A generator is told the same by a withdrawal as it happens and when its run
// is taken up again.
func TestAWithdrawnQuestionFailsWithItsReason(t *testing.T) {
	for _, tt := range []struct {
		reason     log.Reason
		text, want string
	}{
		{log.Unsupported, "the client has no forms", "unsupported; nobody can be asked here: the client has no forms"},
		{log.Unsupported, "", "unsupported; nobody can be asked here"},
		{log.Invalid, "name must not be empty", "invalid; the answers did not fit the question: name must not be empty"},
		{log.Expired, "", "timeout; the question was not answered in time"},
	} {
		t.Run(string(tt.reason)+tt.text, func(t *testing.T) {
			o := options(t, outcome)
			b := open(t, o)
			id := b.start("outcome", "")
			first, seq := b.asked(id, 0)
			if err := b.Withdraw(t.Context(), me, first, tt.reason, tt.text); err != nil {
				t.Fatal(err)
			}
			b.asked(id, seq)
			b.close()
			again := open(t, o)
			second, _ := again.asked(id, seq)
			again.accept(second, `{"second":"x"}`)
			f := again.finished(id)
			if f.Status != log.Completed || string(f.Result) != string(encode(t, tt.want)) {
				t.Errorf("finished = %+v, want %q", f, tt.want)
			}
			told := 0
			for _, e := range again.entries(id) {
				if e.Kind == "status" {
					told++
				}
				if e.Kind == log.KindWithdrawn {
					if w, err := log.As[log.Withdrawn](e); err != nil || w != (log.Withdrawn{Ask: seq, Reason: tt.reason, Error: tt.text}) {
						t.Errorf("recorded: %+v, %v", w, err)
					}
				}
			}
			if told != 1 {
				t.Errorf("the outcome was told %d times: live and again it differs", told)
			}
		})
	}
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestWithdrawRefuses(t *testing.T) {
	b := newBench(t, outcome)
	id := b.start("outcome", "")
	first, seq := b.asked(id, 0)
	withdraw := func(who run.Caller, askID string) error {
		return b.Withdraw(t.Context(), who, askID, log.Unsupported, strings.Repeat("long ", 10_000))
	}
	for _, tt := range []struct {
		name string
		who  run.Caller
		ask  string
		want error
	}{
		{"garbage", me, "garbage", run.ErrNoAsk},
		{"another run", me, log.AskID("00", seq), run.ErrNoAsk},
		{"an entry that is no ask", me, log.AskID(id, 1), run.ErrNoAsk},
		{"another's", run.Caller{"session:you"}, first, run.ErrForbidden},
		{"an open one", me, first, nil},
		{"again", me, first, run.ErrSettled},
	} {
		if err := withdraw(tt.who, tt.ask); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if err := b.Answer(t.Context(), me, first, ask.Answer{Action: ask.Decline}, "test"); !errors.Is(err, run.ErrSettled) {
		t.Errorf("an answer after it: %v", err)
	}
	w, err := log.As[log.Withdrawn](b.until(id, seq, log.KindWithdrawn))
	if err != nil || len(w.Error) > 5<<10 {
		t.Errorf("%d bytes of text were recorded (%v)", len(w.Error), err)
	}
	second, _ := b.asked(id, seq)
	if err := b.Cancel(t.Context(), me, id); err != nil {
		t.Fatal(err)
	}
	if err := withdraw(me, second); !errors.Is(err, run.ErrSettled) {
		t.Errorf("after the run's end: %v", err)
	}
}

// The log says which questions belong together, also where some are refused.
func TestARoundOfQuestionsIsMarkedInTheLog(t *testing.T) {
	b := newBench(t, photon("round", func(_ context.Context, yield generators.Yield) (int, error) {
		var x, y, z string
		err := ask.All(yield, ask.ForText("x", "m").Into(&x), ask.ForText("y", "m").Into(&y), ask.ForText("z", "m").Into(&z))
		return 0, err
	}, nil))
	id := b.start("round", "")
	var more []bool
	var seq uint64
	for range 3 {
		e := b.until(id, seq, log.KindAsked)
		a, err := log.As[log.Asked](e)
		if err != nil {
			t.Fatal(err)
		}
		more, seq = append(more, a.More), e.Seq
	}
	if len(more) != 3 || !more[0] || !more[1] || more[2] {
		t.Errorf("more = %v", more)
	}
}
