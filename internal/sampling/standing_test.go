package sampling_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A standing approval covers the later requests of its tool, in the runs of its owner, up
// to its number; each is recorded as sent by it.
func TestStandingApproval(t *testing.T) {
	s, models := replier(t, "ok")
	b := open(t, nil, models)
	if len(b.Standings(ada)) != 0 {
		t.Error("there is a standing approval from the start")
	}
	run := b.start("files__asker", prompt{Text: "x", N: 4}, false)
	first := runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq)
	b.approve(first, sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeServer, Requests: 2}})
	third := b.waitFor(run, sampled(func(d runlog.Sampling) bool {
		return d.Approved != nil && strings.Contains(d.Approved.Standing, "for the server files; 0 requests left")
	}))
	fourth := b.waitFor(run, func(e runlog.Entry) bool { return e.Kind == runlog.KindAsked && e.Seq > third.Seq })
	if n := len(s.Requests()); n != 3 || len(b.Standings(ada)) != 0 {
		t.Errorf("%d requests were sent, and %v is left", n, b.Standings(ada))
	}
	if s := b.state(runlog.AskID(run, fourth.Seq)); s.Phase != sampling.Waiting {
		t.Errorf("the fourth is %+v", s)
	}
}

// Whose request it is, a photon's name doesn't say.
func TestStandingApprovalIsOfWhoAsks(t *testing.T) {
	_, models := replier(t, "ok")
	b := open(t, nil, models)
	ask := func(photon string) (id string) {
		t.Helper()
		run := b.start(photon, prompt{Text: "x"}, false)
		id = runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq)
		b.Service.Settle()
		return id
	}
	local, unsure := ask("files__local"), ask("files__unsure")
	for id, scope := range map[string]sampling.Scope{local: sampling.ScopeServer, unsure: sampling.ScopeTool} {
		err := b.Approve(t.Context(), ada, "browser", id, sampling.Decision{Standing: &sampling.StandingRequest{Scope: scope, Requests: 2}})
		var invalid *generators.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: a standing approval for its %s: %v", id, scope, err)
		}
	}
	b.approve(unsure, sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeServer, Requests: 9}})
	for photon, want := range map[string]sampling.Phase{"files__local": sampling.Waiting, "asker": sampling.Waiting} {
		if s := b.state(ask(photon)); s.Phase != want {
			t.Errorf("%s is %+v", photon, s)
		}
	}
	other := b.start("files__other", prompt{Text: "x"}, false)
	b.result(other)
	b.approve(ask("files__local"), sampling.Decision{})
	for _, u := range b.used(ada) {
		if want := map[bool]string{true: "", false: "files"}[u.Tool == "files__local"]; u.Server != want {
			t.Errorf("the usage has %+v", u)
		}
	}
}

// It covers no other tool, no other owner, and no run whose client has a model.
func TestStandingApprovalIsNarrow(t *testing.T) {
	s, models := replier(t, "ok")
	b := open(t, nil, models)
	run := b.start("files__asker", prompt{Text: "x"}, false)
	b.approve(runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq), sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Requests: 9, Tokens: 9000}})
	b.result(run)
	asked := func(photon string, samples bool) {
		t.Helper()
		other := b.start(photon, prompt{Text: "x"}, samples)
		id := runlog.AskID(other, b.waitFor(other, kind(runlog.KindAsked)).Seq)
		b.Service.Settle()
		if s := b.state(id); s.Phase != sampling.Waiting {
			t.Errorf("%s (with a client's model: %v) is %+v", photon, samples, s)
		}
	}
	asked("files__other", false)
	asked("files__asker", true)
	info, err := b.Engine.Start(t.Context(), bob, engine.StartRequest{Photon: "files__asker", Args: []byte(`{"text":"x"}`), Surface: "test"})
	if err != nil {
		t.Fatal(err)
	}
	b.waitFor(info.ID, kind(runlog.KindAsked))
	b.Service.Settle()
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	list := b.Standings(ada)
	if len(list) != 1 || *list[0].Requests != 9 || *list[0].Tokens != 9000 || len(b.Standings(bob)) != 0 || len(b.Standings(generators.Caller{ID: "x", Roles: []string{generators.RoleOperator}})) != 1 {
		t.Errorf("the standing approvals are %+v", list)
	}
	if err := b.Revoke(t.Context(), bob, list[0].ID); !errors.Is(err, sampling.ErrNoStanding) {
		t.Errorf("somebody else revoked it: %v", err)
	}
	if err := b.Revoke(t.Context(), ada, list[0].ID); err != nil {
		t.Fatal(err)
	}
	asked("files__asker", false)
}

// Tokens are reserved for a request and its longest reply, and what isn't used is given
// back.
func TestStandingTokens(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Reply("ok") })
	b := open(t, nil, s.Models(`"name":"m"`))
	run := b.start("asker", prompt{Text: "x", N: 20}, false)
	b.approve(runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq), sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Tokens: 1010}})
	last := b.waitFor(run, sampled(func(d runlog.Sampling) bool { return d.Approved != nil && d.Approved.Standing != "" }))
	b.waitFor(run, func(e runlog.Entry) bool { return e.Kind == runlog.KindAsked && e.Seq > last.Seq })
	b.Service.Settle()
	list := b.Standings(ada)
	if n := len(s.Requests()); n != 2 || len(list) != 1 || *list[0].Tokens != 1010-15 {
		t.Errorf("%d requests were sent, and %+v is left", n, list)
	}
}

// A tool can't stretch a standing approval: by the length of the reply that it wants, by
// naming another model, or by asking for much at once.
func TestAttacksOnStandingApprovals(t *testing.T) {
	release := make(chan struct{})
	s := llmtest.New(t, func(x *llmtest.Call) {
		if x.N > 1 {
			<-release
		}
		x.Reply("ok")
	})
	b := open(t, nil, s.Models(`"name":"local"`, `"name":"hosted","hints":["sonnet"]`))
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{Model: "local", Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Tokens: 2100}})
	b.result(run)
	waits := func(in prompt) string {
		t.Helper()
		run := b.start("asker", in, false)
		return runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq)
	}
	greedy := waits(prompt{Text: "x", MaxTokens: math.MaxInt})
	b.Service.Settle()
	if s := b.state(greedy); s.Phase != sampling.Waiting {
		t.Errorf("a request for a reply without end is %+v", s)
	}
	var approved []string
	for range 5 { // 1,007 tokens each
		approved = append(approved, waits(prompt{Text: "x", Hint: "sonnet"}))
	}
	programtest.Poll(func() bool { return len(s.Requests()) >= 3 })
	sent := 0
	for _, id := range approved {
		if s := b.state(id); s.Phase != sampling.Waiting {
			sent++
			if s.Approval.Model != "local" {
				t.Errorf("the standing approval of one model sent a request to %s", s.Approval.Model)
			}
		}
	}
	if n := len(s.Requests()); n != 3 || sent != 2 {
		t.Errorf("%d requests were sent, %d of them by the standing approval", n, sent)
	}
	close(release)
}

// A model's server that lies about what was used neither makes a standing approval last
// for ever, nor longer than it was.
func TestLiesAboutTokens(t *testing.T) {
	for _, said := range []string{
		`{"prompt_tokens":0,"completion_tokens":0}`, `{"prompt_tokens":-9,"completion_tokens":-9}`,
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`,
	} {
		s := llmtest.New(t, func(x *llmtest.Call) {
			x.Event(`{"choices":[{"delta":{"content":"` + strings.Repeat("word ", 40) + `"},"finish_reason":"stop"}]}`)
			x.Event(`{"choices":[],"usage":` + said + `}`)
		})
		b := open(t, nil, s.Models(`"name":"m"`))
		run, id := b.ask("x")
		b.approve(id, sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Tokens: 1107}})
		b.result(run)
		for range 5 {
			_, id := b.ask("x")
			b.Service.Settle()
			if s, err := b.State(t.Context(), ada, id); err == nil && s.Phase == sampling.Waiting {
				break
			}
		}
		if n := len(s.Requests()); n > 3 {
			t.Errorf("%s: %d requests were sent", said, n)
		}
		for _, u := range b.used(ada) {
			if u.InputTokens < 0 || u.OutputTokens < 0 {
				t.Errorf("%s: the usage is %+v", said, u)
			}
		}
	}
}
