package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// settle settles a question without an answer, in each way that there is.
var settle = map[runlog.UnansweredReason]func(b *testEngine, askID string) error{
	runlog.ReasonDeclined: func(b *testEngine, askID string) error {
		return b.Answer(b.t.Context(), me, askID, askdata.Answer{Action: askdata.Decline}, "browser")
	},
	runlog.ReasonDismissed: func(b *testEngine, askID string) error {
		return b.Answer(b.t.Context(), me, askID, askdata.Answer{Action: askdata.Cancel}, "browser")
	},
	runlog.ReasonExpired: func(*testEngine, string) error {
		time.Sleep(2 * time.Hour) // in the bubble of the test
		return nil
	},
	runlog.ReasonUnreachable: func(b *testEngine, askID string) error {
		return b.Withdraw(b.t.Context(), me, askID, runlog.Unsupported, "it has no forms")
	},
	runlog.ReasonInvalid: func(b *testEngine, askID string) error {
		return b.Withdraw(b.t.Context(), me, askID, runlog.Invalid, "3 answers were not valid")
	},
}

// A run that ends with the error of a question is unanswered, with the reason and the
// question, however the tool wrapped the error. A run that handles it completes, and one
// that fails in another way fails. A restart changes none of that.
func TestRunWithoutAnswerIsUnanswered(t *testing.T) {
	ends := map[string]func(error) (string, error){
		"as it is": func(err error) (string, error) { return "", err },
		"wrapped":  func(err error) (string, error) { return "", fmt.Errorf("booking: %w", err) },
		"joined":   func(err error) (string, error) { return "", errors.Join(err, errors.New("cleaning up failed")) },
		"handled":  func(err error) (string, error) { return "went on without", nil },
		"failed":   func(err error) (string, error) { return "", fmt.Errorf("booking: %v", err) },
	}
	for reason, settle := range settle {
		for how, end := range ends {
			t.Run(string(reason)+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := testOptions(t, newPhoton("asker", func(_ context.Context, yield generators.Yield) (string, error) {
						if _, err := ask.Text(yield, "before", "Name?"); err != nil {
							return "", err
						}
						_, err := ask.Text(yield, "account", "Which account?", ask.Timeout(time.Hour))
						return end(err)
					}, &generators.Options{Durable: true}))
					b := openTestEngine(t, o)
					id := b.startRun("asker", "")
					before, seq := b.waitForAsk(id, 0)
					b.acceptAsk(before, `{"before":"Ada"}`)
					askID, asked := b.waitForAsk(id, seq)
					if err := settle(b, askID); err != nil {
						t.Fatal(err)
					}
					f := b.waitForEnd(id)
					checkUnansweredEnd(t, f, how, reason, asked)

					info, err := b.Info(me, id)
					if err != nil || info.State != engine.State(f.Status) || info.Reason != f.Reason() {
						t.Errorf("the run is %+v, %v", info, err)
					}
					b.closeNow()
					again, err := openTestEngine(t, o).Info(me, id)
					if err != nil || string(mustMarshal(t, again)) != string(mustMarshal(t, info)) {
						t.Errorf("after a restart the run is\n%+v, not\n%+v", again, info)
					}
				})
			})
		}
	}
}

func checkUnansweredEnd(t *testing.T, f runlog.Finished, how string, reason runlog.UnansweredReason, asked uint64) {
	t.Helper()
	switch how {
	case "handled":
		if f.Status != runlog.Completed || f.Ask != nil {
			t.Errorf("finished = %+v", f)
		}
		return
	case "failed":
		if f.Status != runlog.Failed || f.Ask != nil {
			t.Errorf("finished = %+v", f)
		}
		return
	}
	if f.Status != runlog.Unanswered || f.Ask == nil {
		t.Fatalf("finished = %+v", f)
	}
	want := runlog.UnansweredAsk{Reason: reason, Seq: asked, Message: "Which account?"}
	switch reason {
	case runlog.ReasonUnreachable:
		want.Detail = "it has no forms"
	case runlog.ReasonInvalid:
		want.Detail = "3 answers were not valid"
	}
	if *f.Ask != want {
		t.Errorf("the question is %+v, not %+v", *f.Ask, want)
	}
	if (f.Error == "") != (how == "as it is") {
		t.Errorf("the tool's own error is %q", f.Error)
	}
}

// A tool may return the error of a question that it didn't ask, for a confirmation that
// was answered with no.
func TestRunThatReturnsErrorOfNoQuestion(t *testing.T) {
	for text, err := range map[string]error{"": ask.ErrDeclined, "deploying: the question was declined": fmt.Errorf("deploying: %w", ask.ErrDeclined)} {
		b := newTestEngine(t, newPhoton("refuser", func(context.Context, generators.Yield) (string, error) { return "", err }, nil))
		f := b.waitForEnd(b.startRun("refuser", ""))
		if f.Status != runlog.Unanswered || f.Ask == nil || *f.Ask != (runlog.UnansweredAsk{Reason: runlog.ReasonDeclined}) || f.Error != text {
			t.Errorf("finished = %+v, %+v", f, f.Ask)
		}
	}
}

// Who declined is named if it isn't the run's owner.
func TestUnansweredRunNamesWhoElseDeclined(t *testing.T) {
	b := newTestEngine(t, newPhoton("asker", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, nil))
	bea := generators.Caller{ID: "bea", Name: "Bea", Roles: []string{generators.RoleOperator}}
	id := b.startRun("asker", "")
	askID, _ := b.waitForAsk(id, 0)
	if err := b.Answer(t.Context(), bea, askID, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
		t.Fatal(err)
	}
	if f := b.waitForEnd(id); f.By != "Bea" {
		t.Errorf("finished = %+v, %+v", f, f.Ask)
	}
	if info, err := b.Info(me, id); err != nil || info.Error != `"Name?" was declined by Bea.` {
		t.Errorf("the run is %+v, %v", info, err)
	}
}

// The question that ended a run is told with secrets masked, also if the tool asked it
// again in a replay.
func TestUnansweredRunMasksSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, newPhoton("asker", func(_ context.Context, yield generators.Yield) (string, error) {
			pin, err := ask.Secret(yield, "pin", "PIN?")
			if err != nil {
				return "", err
			}
			sure, err := ask.Text(yield, "sure", "Use "+pin+"?")
			if err != nil {
				err = fmt.Errorf("using %s: %w", pin, err)
			}
			return sure, err
		}, &generators.Options{Durable: true}))
		id := b.startRun("asker", "")
		pin, seq := b.waitForAsk(id, 0)
		b.acceptAsk(pin, `{"pin":"hunter22"}`)
		sure, _ := b.waitForAsk(id, seq)
		time.Sleep(time.Hour) // it is evicted
		if err := b.Answer(t.Context(), me, sure, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
			t.Fatal(err)
		}
		if f := b.waitForEnd(id); f.Ask == nil || f.Ask.Message != "Use ••••?" || f.Error != "using ••••: the question was declined" {
			t.Errorf("finished = %+v, %+v", f, f.Ask)
		}
	})
}

// Runs that earlier versions recorded as failed with the error of a question are read as
// unanswered. Other failures stay as they are.
func TestUnansweredRunsOfEarlierVersions(t *testing.T) {
	for recorded, want := range map[string]runlog.Finished{
		`{"status":"failed","error":"the question was declined"}`:                   {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined}},
		`{"status":"failed","error":"the question was cancelled"}`:                  {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDismissed}},
		`{"status":"failed","error":"the question was not answered in time"}`:       {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonExpired}},
		`{"status":"failed","error":"nobody can be asked here: it has no forms"}`:   {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonUnreachable, Detail: "it has no forms"}},
		`{"status":"failed","error":"the answers did not fit the question"}`:        {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonInvalid}},
		`{"status":"failed","error":"booking: the question was declined"}`:          {Status: runlog.Failed, Error: "booking: the question was declined"},
		`{"status":"failed","error":"the question was declined twice"}`:             {Status: runlog.Failed, Error: "the question was declined twice"},
		`{"status":"stopped","error":"stopped"}`:                                    {Status: runlog.Stopped, Error: "stopped"},
		`{"status":"completed","result":"the question was declined"}`:               {Status: runlog.Completed, Result: json.RawMessage(`"the question was declined"`)},
		`{"status":"unanswered","ask":{"reason":"declined","seq":4,"message":"?"}}`: {Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: 4, Message: "?"}},
	} {
		f, err := runlog.Decode[runlog.Finished](runlog.Entry{Kind: runlog.KindFinished, Data: []byte(recorded)})
		if err != nil || string(mustMarshal(t, f)) != string(mustMarshal(t, want)) {
			t.Errorf("%s is read as %s, %v", recorded, mustMarshal(t, f), err)
		}
	}
}
