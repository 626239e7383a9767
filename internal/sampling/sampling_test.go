package sampling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// Nothing is sent before a person approves; then, exactly what was offered.
func TestApprove(t *testing.T) {
	s, models := replier(t, "Fine.")
	b := open(t, nil, models)
	run, id := b.ask("How are <you>?")
	question, err := b.OpenAsk(t.Context(), ada, id)
	if err != nil {
		t.Fatal(err)
	}
	offered := sampling.NewOffer(models, asking.SampleOf(question.Question), sampling.NewState()).Body
	if n := len(s.Requests()); n != 0 {
		t.Fatalf("%d requests were sent before the approval", n)
	}
	b.approve(id, sampling.Decision{})
	if got := b.result(run); got != "served: Fine. (endTurn)" {
		t.Errorf("the run got %q", got)
	}
	if sent := s.Requests(); len(sent) != 1 || string(sent[0]) != string(offered) || strings.Contains(string(sent[0]), "allServers") {
		t.Errorf("it sent %q, and offered %q", sent, offered)
	}
	answered, err := runlog.Decode[runlog.Answered](b.waitFor(run, kind(runlog.KindAnswered)))
	if err != nil || answered.Surface != sampling.Surface || answered.Caller.ID != ada.ID {
		t.Errorf("the answer's record is %+v, %v", answered, err)
	}
	if u := b.used(ada); len(u) != 1 || u[0].Calls != 1 || u[0].InputTokens != 12 || u[0].OutputTokens != 3 || u[0].Tool != "asker" {
		t.Errorf("the usage is %+v", u)
	}
	if u := b.used(bob); len(u) != 0 {
		t.Errorf("somebody else's usage is %+v", u)
	}
}

// What a person changes is what is sent, and is recorded.
func TestEdit(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Reply("ok") })
	b := open(t, nil, s.Models(`"name":"m","maxTokens":500`, `"name":"other","model":"o-1"`))
	run, id := b.ask("secret plan")
	b.approve(id, sampling.Decision{Model: "other", SystemPrompt: new(""), MaxTokens: 7, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("harmless"))}})
	b.result(run)
	if sent := string(s.Requests()[0]); sent != `{"model":"o-1","messages":[{"role":"user","content":"harmless"}],"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}` {
		t.Errorf("it sent %s", sent)
	}
	d, _ := runlog.Decode[runlog.Sampling](b.waitFor(run, kind(runlog.KindSampling)))
	if a := d.Approved; a.Model != "other" || a.Request == nil || a.Request.Messages[0].Text() != "harmless" || a.By.ID != ada.ID || a.Surface != "browser" || len(a.Digest) != 64 {
		t.Errorf("the approval is %+v", a)
	}
	// A model's own limit applies without an edit.
	run, id = b.ask("x")
	b.approve(id, sampling.Decision{Model: "m"})
	b.result(run)
	if sent := string(s.Requests()[1]); !strings.Contains(sent, `"max_tokens":500`) {
		t.Errorf("it sent %s", sent)
	}
}

func TestRefusedDecisions(t *testing.T) {
	s, models := replier(t, "ok")
	b := open(t, nil, models)
	_, id := b.ask("x")
	var invalid *generators.InvalidError
	for want, d := range map[string]sampling.Decision{
		"there is no": {Model: "none"}, "must be at least 1": {MaxTokens: -1}, "must be 1 to 1000": {Messages: []ask.SampleMessage{}},
		"is of": {Messages: []ask.SampleMessage{{Role: "system", Content: []byte(`{"type":"text","text":"x"}`)}}}, "that of number 1 must be": {Messages: []ask.SampleMessage{{Role: ask.RoleUser, Content: []byte(`"x"`)}}},
		"how many requests": {Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool}}, "must be tool or server": {Standing: &sampling.StandingRequest{Requests: 1}},
		"not an upstream server's": {Standing: &sampling.StandingRequest{Scope: sampling.ScopeServer, Requests: 1}},
		"at most":                  {Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Requests: 1 << 30}},
		"takes no pictures":        {Messages: []ask.SampleMessage{ask.FromUser(ask.ImageBlock([]byte("x"), "image/png"))}},
	} {
		if err := b.Approve(t.Context(), ada, "http", id, d); !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for want, err := range map[error]error{
		engine.ErrForbidden:       b.Approve(t.Context(), bob, "http", id, sampling.Decision{}),
		engine.ErrAskNotFound:     b.Approve(t.Context(), ada, "http", "x.1", sampling.Decision{}),
		engine.ErrSamplingChanged: b.Approve(t.Context(), ada, "http", id, sampling.Decision{Call: 2}),
		sampling.ErrNotReplying:   b.Stop(t.Context(), ada, id),
		sampling.ErrNoReply:       b.Return(t.Context(), ada, "http", id, nil),
	} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if n := len(s.Requests()); n != 0 || b.state(id).Phase != sampling.Waiting {
		t.Errorf("%d requests were sent", n)
	}
}

// Of two approvals at once, one wins, and one request is sent.
func TestTwoApprovals(t *testing.T) {
	release := make(chan struct{})
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("a"); <-release; x.Reply("b") })
	b := open(t, nil, s.Models(`"name":"m"`))
	run, id := b.ask("x")
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- b.Approve(t.Context(), ada, "browser", id, sampling.Decision{Call: 1}) }()
	}
	first, second := <-results, <-results
	if (first == nil) == (second == nil) || !errors.Is(errors.Join(first, second), engine.ErrSamplingChanged) {
		t.Errorf("the approvals returned %v and %v", first, second)
	}
	close(release)
	if got := b.result(run); got != "served: ab (endTurn)" || len(s.Requests()) != 1 {
		t.Errorf("the run got %q by %d requests", got, len(s.Requests()))
	}
}

// A reply to be reviewed is returned as it is, changed, or not at all.
func TestReview(t *testing.T) {
	_, models := replier(t, "Nonsense.")
	b := open(t, nil, models)
	review := func() (run, id string) {
		run, id = b.ask("x")
		b.approve(id, sampling.Decision{Review: true})
		b.waitFor(run, endOf(1))
		if s := b.state(id); s.Phase != sampling.Replied || s.Text() != "Nonsense." {
			t.Errorf("the state is %+v", s)
		}
		return run, id
	}
	run, id := review()
	if err := b.Return(t.Context(), bob, "browser", id, nil); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("somebody else returned it: %v", err)
	}
	if err := b.Return(t.Context(), ada, "browser", id, new("Sense.")); err != nil {
		t.Fatal(err)
	}
	if got := b.result(run); got != "served: Sense. (endTurn) edited" {
		t.Errorf("the run got %q", got)
	}
	run, id = review()
	if err := b.Return(t.Context(), ada, "browser", id, nil); err != nil || b.result(run) != "served: Nonsense. (endTurn)" {
		t.Errorf("unchanged, it is %v", err)
	}
	run, id = review()
	if err := b.Answer(t.Context(), ada, id, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil || b.result(run) != "unanswered declined" {
		t.Errorf("withheld, it is %v", err)
	}
}

// Stopping a call ends the request at the server; the question stays open and can be
// approved again. So does denying, which settles it, and stopping the run.
func TestStop(t *testing.T) {
	gone := make(chan struct{}, 1)
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("Hel"); x.WaitUntilGone(); gone <- struct{}{} })
	b := open(t, nil, s.Models(`"name":"m"`))
	run, id := b.ask("x")
	replying := func(call int) {
		b.approve(id, sampling.Decision{Call: call})
		b.waitFor(run, sampled(func(d runlog.Sampling) bool { return d.Call == call && isText(d) }))
	}
	replying(1)
	if err := b.Stop(t.Context(), ada, id); err != nil {
		t.Fatal(err)
	}
	<-gone
	if s := b.state(id); s.Phase != sampling.Stopped || s.Text() != "Hel" || s.End.OutputTokens == 0 || !s.End.Estimated {
		t.Errorf("the state is %+v, %+v", s, s.End)
	}
	replying(2)
	if err := b.Answer(t.Context(), ada, id, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
		t.Fatal(err)
	}
	<-gone
	if got := b.result(run); got != "unanswered declined" {
		t.Errorf("the run got %q", got)
	}
	run, id = b.ask("x")
	replying(1)
	if err := b.Cancel(t.Context(), ada, run, "browser"); err != nil {
		t.Fatal(err)
	}
	<-gone
	run, id = b.ask("x")
	replying(1)
	if err := b.Answer(t.Context(), ada, id, askdata.Answer{Action: askdata.Accept, Content: []byte(`{"text":"Mine"}`)}, "browser"); err != nil {
		t.Fatal(err)
	}
	<-gone
	if got := b.result(run); got != "a person: Mine (endTurn)" {
		t.Errorf("the run got %q", got)
	}
	b.Service.Close()
	if u := b.used(ada); u[0].Calls != 4 || u[0].Failed != 4 {
		t.Errorf("the usage is %+v", u)
	}
}

// A call can be stopped as soon as anybody can see that it was approved.
func TestStopAtOnce(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.WaitUntilGone() })
	b := open(t, nil, s.Models(`"name":"m"`))
	run, id := b.ask("x")
	approved := make(chan error, 1)
	go func() { approved <- b.Approve(t.Context(), ada, "browser", id, sampling.Decision{}) }()
	b.waitFor(run, sampled(func(d runlog.Sampling) bool { return d.Approved != nil }))
	if err := b.Stop(t.Context(), ada, id); err != nil {
		t.Errorf("stopped at once: %v", err)
	}
	if err := <-approved; err != nil || b.state(id).Phase != sampling.Stopped {
		t.Errorf("%v, and the state is %+v", err, b.state(id))
	}
}

// A call that fails says why, and another model may be asked.
func TestFailure(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) {
		switch x.N {
		case 1:
			x.Refuse(429, "busy", "Retry-After-Ms", "1")
		case 2:
			x.Refuse(401, "who?")
		default:
			x.Reply("ok")
		}
	})
	b := open(t, nil, s.Models(`"name":"m"`, `"name":"n"`))
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{})
	b.waitFor(run, endOf(1))
	if s := b.state(id); s.Phase != sampling.Failed || !strings.Contains(s.End.Error, "requires a key") || len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "Sending the request again") {
		t.Errorf("the state is %+v, %+v", s, s.End)
	}
	b.approve(id, sampling.Decision{Model: "n", Call: 2})
	if got := b.result(run); got != "served: ok (endTurn)" {
		t.Errorf("the run got %q", got)
	}
}

func TestThreeAtOnce(t *testing.T) {
	arrived, release := make(chan struct{}, 3), make(chan struct{})
	s := llmtest.New(t, func(x *llmtest.Call) { arrived <- struct{}{}; <-release; x.Reply(fmt.Sprint(len(x.Body))) })
	b := open(t, nil, s.Models(`"name":"m"`))
	var runs []string
	for i := range 3 {
		run, id := b.ask(strings.Repeat("x", i))
		b.approve(id, sampling.Decision{})
		runs = append(runs, run)
	}
	for range 3 {
		<-arrived
	}
	close(release)
	seen := map[string]bool{}
	for _, run := range runs {
		seen[b.result(run)] = true
	}
	if len(seen) != 3 {
		t.Errorf("the runs got %v", seen)
	}
}
