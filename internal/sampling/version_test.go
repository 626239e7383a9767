package sampling_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// redact is a decision that removes what the person doesn't want to be sent.
func redact() sampling.Decision {
	return sampling.Decision{Model: "n", MaxTokens: 7, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("the plan"))}}
}

// What a person removed stays removed when the model fails, when the person stops it, and
// over a restart: an approval that changes nothing sends the version approved last, to the
// same model.
func TestTheVersionApprovedLastStays(t *testing.T) {
	for name, restart := range map[string]bool{"in one process": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, func(x *llmtest.Call) {
				switch x.N {
				case 1:
					x.Refuse(401, "who?")
				case 2:
					x.Say("Hal")
					x.WaitUntilGone()
				default:
					x.Reply("ok")
				}
			})
			models := s.Models(`"name":"m"`, `"name":"n"`)
			b := open(t, nil, models)
			run, id := b.ask("the plan, whose code is 4711")
			b.approve(id, redact())
			b.waitFor(run, endOf(1))
			if restart {
				b.close()
				b = open(t, b, models)
			}
			b.approve(id, sampling.Decision{SystemPrompt: new("Be kind.")}) // a change of the version, not of the original
			b.waitFor(run, sampled(isText))
			if err := b.Stop(t.Context(), ada, id); err != nil {
				t.Fatal(err)
			}
			b.approve(id, sampling.Decision{})
			b.result(run)
			for i, sent := range s.Requests() {
				if text := string(sent); strings.Contains(text, "4711") || !strings.Contains(text, `"max_tokens":7`) || !strings.Contains(text, `"model":"n"`) || strings.Contains(text, "kind") != (i > 0) {
					t.Errorf("request %d is %s", i+1, text)
				}
			}
		})
	}
}

// Who approves again without seeing the version approved last is told so.
func TestAnOlderVersionIsRefused(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Refuse(401, "who?") })
	b := open(t, nil, s.Models(`"name":"m"`, `"name":"n"`))
	run, id := b.ask("4711")
	b.approve(id, redact())
	b.waitFor(run, endOf(1))
	if err := b.Approve(t.Context(), ada, "browser", id, sampling.Decision{Call: 1}); !errors.Is(err, engine.ErrSamplingChanged) {
		t.Errorf("a page that shows the original: %v", err)
	}
	var invalid *generators.InvalidError
	if err := b.Approve(t.Context(), ada, "terminal", id, sampling.Decision{MaxTokens: 3}); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "call must be 2 to approve the request as browser session has changed it") {
		t.Errorf("a script that names no version: %v", err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// What differs from what was asked is described, with who changed it, and can be undone.
func TestChangesAreDescribed(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) {
		if x.N < 3 {
			x.Refuse(401, "who?")
			return
		}
		x.Reply("ok")
	})
	b := open(t, nil, s.Models(`"name":"m"`, `"name":"n"`))
	run, id := b.ask("4711")
	question, err := b.OpenAsk(t.Context(), ada, id)
	if err != nil {
		t.Fatal(err)
	}
	describe := func() sampling.Description { return b.Describe(asking.SampleOf(question.Question), b.state(id)) }
	if d := describe(); d.Changes != "" || d.Choice != "m" || d.Request != nil {
		t.Errorf("as it was asked: %+v", d)
	}
	b.approve(id, redact())
	b.waitFor(run, endOf(1))
	d := describe()
	if !strings.Contains(d.Changes, "-4711\n+the plan\n") || !strings.Contains(d.Changes, "-Longest reply: 1000 tokens\n+Longest reply: 7 tokens\n") || d.Choice != "n" ||
		d.Request == nil || d.Request.MaxTokens != 7 || !strings.Contains(d.Body, `"model":"n"`) || strings.Contains(d.Body, "4711") || d.ChangedBy != "browser session" {
		t.Errorf("changed: %+v", d)
	}
	b.approve(id, sampling.Decision{}) // as it stands, which leaves who changed it
	b.waitFor(run, endOf(2))
	if d := describe(); d.ChangedBy != "browser session" || d.Changes == "" {
		t.Errorf("approved again: %+v", d)
	}
	b.approve(id, sampling.Decision{Original: true, Model: "m"})
	b.result(run)
	if sent := string(s.Requests()[2]); !strings.Contains(sent, "4711") || !strings.Contains(sent, `"max_tokens":1000`) {
		t.Errorf("the original is %s", sent)
	}
}

// Every parameter that is sent can be changed or left out.
func TestEveryParameterCanBeChanged(t *testing.T) {
	s, models := replier(t, "ok")
	b := open(t, nil, models)
	run, id := b.askFull()
	b.approve(id, sampling.Decision{Temperature: new(0.5), StopSequences: []string{"STOP", "END"}, MaxTokens: 9})
	b.result(run)
	run, id = b.askFull()
	b.approve(id, sampling.Decision{Omit: []string{"systemPrompt", "temperature", "stopSequences", "tools", "toolChoice"}})
	b.result(run)
	sent := s.Requests()
	for i, want := range []string{
		`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"x"}],"max_tokens":9,"temperature":0.5,"stop":["STOP","END"],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":1000,"stream":true,"stream_options":{"include_usage":true}}`,
	} {
		if string(sent[i]) != want {
			t.Errorf("it sent %s, not %s", sent[i], want)
		}
	}
}

// A standing approval is for requests that nobody has decided about: it doesn't send the
// original of one that a person has changed.
func TestAStandingApprovalLeavesARedactionAlone(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) {
		if strings.Contains(string(x.Body), "plan") {
			x.Refuse(401, "who?")
			return
		}
		x.Reply("ok")
	})
	b := open(t, nil, s.Models(`"name":"m"`, `"name":"n"`))
	run, id := b.ask("4711")
	b.approve(id, redact())
	b.waitFor(run, endOf(1))
	other, otherID := b.ask("x")
	b.approve(otherID, sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Requests: 5}})
	b.result(other)
	b.HandleQuestion(id) // as when a run is brought back to memory
	if state := b.state(id); state.Call != 1 || state.Phase != sampling.Failed {
		t.Errorf("the state is %+v", state)
	}
	for _, sent := range s.Requests() {
		if strings.Contains(string(sent), "4711") {
			t.Errorf("it sent %s", sent)
		}
	}
}

// A reply that a person changed says so, to the tool as well.
func TestAnEditedReplySaysSo(t *testing.T) {
	_, models := replier(t, "Nonsense.")
	b := open(t, nil, models)
	for text, want := range map[string]bool{"Sense.": true, "Nonsense.": false} {
		run, id := b.ask("x")
		b.approve(id, sampling.Decision{Review: true})
		b.waitFor(run, endOf(1))
		if err := b.Return(t.Context(), ada, "browser", id, &text); err != nil {
			t.Fatal(err)
		}
		answered, err := runlog.Decode[runlog.Answered](b.waitFor(run, kind(runlog.KindAnswered)))
		if err != nil || strings.Contains(string(answered.Answer.Content), `"_meta":{"beam/edited":true}`) != want || answered.Caller.ID != ada.ID {
			t.Errorf("%s: the answer is %+v, %v", text, answered, err)
		}
		if got := b.result(run); strings.Contains(got, "edited") != want {
			t.Errorf("%s: the tool got %s", text, got)
		}
	}
}
