package term

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// A prepared approval sends a request once: when the call has failed, the question has no
// answer, and the error says how it can get one.
func TestPreparedApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		f.models = []sampling.ModelDescription{{Name: "tiny"}, {Name: "deaf", Unfit: "It takes no sounds."}}
		f.askQuestion("q", askdata.KindSample)
		prepared := &Prepared{}
		if err := prepared.AddApproval("q=tiny"); err != nil {
			t.Fatal(err)
		}
		s := &Session{Runs: f, Prepared: prepared}
		_, err := s.Follow(t.Context(), "run")
		var unanswered *UnansweredError
		if !errors.As(err, &unanswered) || !strings.Contains(err.Error(), "--approve q[=MODEL], which sends the request to tiny; or --answer q=TEXT, in the model's place") {
			t.Errorf("the error is %v", err)
		}
		if len(f.approved) != 1 || f.approved[0].Model != "tiny" || len(prepared.Unused()) != 0 {
			t.Errorf("approved were %+v", f.approved)
		}

		f = newFakeRuns()
		f.askQuestion("q", askdata.KindText)
		s = &Session{Runs: f, Prepared: prepared}
		if _, err := s.Follow(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), "--approve q: the question is not for a model; it is of the kind text") {
			t.Errorf("the error is %v", err)
		}
		for _, text := range []string{"", "=tiny", "q="} {
			if err := prepared.AddApproval(text); err == nil {
				t.Errorf("%q was accepted", text)
			}
		}
	})
}

// What a person changes of a request is what is decided; the rest stays as it is.
func TestApprovalDecision(t *testing.T) {
	request := &ask.SampleRequest{SystemPrompt: "Be brief.", MaxTokens: 100, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hello")), ask.FromAssistant(ask.TextBlock("Well"))}}
	q := &Question{Question: &askdata.Question{Kind: askdata.KindSample, Sample: asking.NewSample(request)}, Photon: "files__ask", Models: []sampling.ModelDescription{{Name: "a"}, {Name: "b"}}}
	unchanged := newApproval(q)
	if got, _ := json.Marshal(unchanged.decision()); string(got) != `{"call":1,"model":"a"}` {
		t.Errorf("unchanged, it is %s", got)
	}
	changed := newApproval(q)
	changed.choice, changed.model, changed.system, changed.limit, changed.message, changed.scope, changed.later = choiceChange, "b", "", "50", "So", "server", "3"
	a, ok := changed.answer()
	got, _ := json.Marshal(a.Approve)
	const want = `{"call":1,"model":"b","messages":[{"role":"user","content":{"text":"Hello","type":"text"}},{"role":"assistant","content":{"text":"So","type":"text"}}],"systemPrompt":"","maxTokens":50,"standing":{"scope":"server","requests":3}}`
	if !ok || string(got) != want {
		t.Errorf("changed, it is %s", got)
	}
	if request.Messages[1].Text() != "Well" {
		t.Error("the request itself was changed")
	}
}

// What a person removed from a request stays removed: the terminal shows, and starts from, the
// version that was approved last, and a decision about an older one is refused.
func TestRedactionStays(t *testing.T) {
	asked := &ask.SampleRequest{MaxTokens: 100, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("The password is hunter2")), ask.FromUser(ask.TextBlock("Go on"))}}
	redacted := &ask.SampleRequest{MaxTokens: 50, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("The password is …")), ask.FromUser(ask.TextBlock("Go on"))}}
	q := &Question{Question: &askdata.Question{Kind: askdata.KindSample, Sample: asking.NewSample(asked)}, Photon: "files__ask"}
	q.SetSampling(sampling.Description{
		Phase: sampling.Failed, Call: 1, Models: []sampling.ModelDescription{{Name: "a"}, {Name: "b"}, {Name: "c", Unfit: "It takes no text."}},
		Version: sampling.Version{Request: redacted, Choice: "b", ChangedBy: "Ada", Changes: "-User: was\n+User: is\n"},
	})
	var out strings.Builder
	screen := NewScreen(&Terminal{Out: &out, Err: &out})
	NewView(screen).ShowEvidence(q)
	screen.Close()
	if text := out.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "The password is …") || !strings.Contains(text, "Ada has changed it") || !strings.Contains(text, "+User: is") {
		t.Errorf("it shows %s", text)
	}

	a := newApproval(q)
	a.choice, a.message = choiceChange, "So"
	answer, _ := a.answer()
	got, _ := json.Marshal(answer.Approve)
	const want = `{"call":2,"model":"b","messages":[{"role":"user","content":{"text":"The password is …","type":"text"}},{"role":"user","content":{"text":"So","type":"text"}}]}`
	if string(got) != want {
		t.Errorf("it decides %s", got)
	}
	a.choice = "b"
	answer, _ = a.answer()
	if got, _ = json.Marshal(answer.Approve); string(got) != `{"call":2,"model":"b"}` {
		t.Errorf("it approves with %s", got)
	}
}

// A question that a model is replying to, by a standing approval, is not asked and has not
// gone unanswered. When somebody approves it elsewhere, its form disappears.
func TestModelRepliesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		f.phase = sampling.Replying
		seq := f.askQuestion("q", askdata.KindSample)
		f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: 1, Approved: &runlog.Approval{Model: "m"}})
		f.append(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Surface: "model", Answer: askdata.Answer{Action: askdata.Accept}})
		f.append(runlog.KindFinished, completed())
		s := &Session{Runs: f}
		if _, err := s.Follow(t.Context(), "run"); err != nil {
			t.Errorf("the error is %v", err)
		}

		f = newFakeRuns()
		f.settled = true
		seq = f.askQuestion("q", askdata.KindSample)
		f.append(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Surface: "model", Answer: askdata.Answer{Action: askdata.Accept}})
		f.append(runlog.KindFinished, completed())
		if _, err := (&Session{Runs: f}).Follow(t.Context(), "run"); err != nil {
			t.Errorf("of a question that has been settled, the error is %v", err)
		}

		f = newFakeRuns()
		seq = f.askQuestion("q", askdata.KindSample)
		asked := 0
		s = &Session{Runs: f, Asker: asker(func(ctx context.Context, _ *Question, _ *generators.InvalidError) (runs.Answer, error) {
			asked++
			if asked == 1 {
				f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: 1, Approved: &runlog.Approval{Model: "m"}})
				<-ctx.Done()
				f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: 1, Ended: &runlog.EndOfSampling{Error: "It broke off."}})
				return runs.Answer{}, context.Cause(ctx)
			}
			f.append(runlog.KindFinished, completed())
			<-ctx.Done()
			return runs.Answer{}, context.Cause(ctx)
		})}
		if _, err := s.Follow(t.Context(), "run"); err != nil || asked != 2 {
			t.Errorf("it was asked %d times: %v", asked, err)
		}
	})
}

// A question to a model has the message of the version approved last, also if that is again as it
// was asked.
func TestQuestionsQuoteTheVersionApprovedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		seq := f.askQuestion("q", askdata.KindSample)
		versions := []*ask.SampleRequest{{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("the plan"))}, MaxTokens: 5}, nil}
		var asked []string
		s := &Session{Runs: f, Asker: asker(func(ctx context.Context, q *Question, _ *generators.InvalidError) (runs.Answer, error) {
			asked = append(asked, q.Message)
			if call := len(asked); call <= len(versions) {
				f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: call, Approved: &runlog.Approval{Model: "m", Request: versions[call-1]}})
				f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: call, Ended: &runlog.EndOfSampling{Error: "It broke off."}})
			} else {
				f.append(runlog.KindFinished, completed())
			}
			<-ctx.Done()
			return runs.Answer{}, context.Cause(ctx)
		})}
		if _, err := s.Follow(t.Context(), "run"); err != nil || !slices.Equal(asked, []string{"q?", "Request to a model: the plan", "q?"}) {
			t.Errorf("it asks %q: %v", asked, err)
		}
	})
}
