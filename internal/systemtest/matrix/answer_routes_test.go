package matrix

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

var actions = []string{"accept", "decline", "cancel"}

// An answerCase is one way in which a question is answered: by whom, and when.
type answerCase struct {
	name    string
	handoff time.Duration
	test    func(t *testing.T, b *testBeam, c *caller, action string)
	// appliesTo reports whether the case exists for a kind of caller.
	appliesTo func(callerKind) bool
}

const neverHandOff, soonHandOff = time.Hour, 100 * time.Millisecond

func appliesToAll(callerKind) bool     { return true }
func appliesToAsked(k callerKind) bool { return k.canBeAsked }

// appliesToHandedOff excludes callers whose question is their call's result: their
// calls do not wait.
func appliesToHandedOff(k callerKind) bool { return !k.canBeAsked || k.version != version20260728 }

var answerCases = []answerCase{
	{"by the caller", neverHandOff, answerByCaller, appliesToAsked},
	{"by the browser", neverHandOff, answerByBrowser, appliesToAll},
	{"by both at once", neverHandOff, answerByBoth, appliesToAsked},
	{"by nobody", soonHandOff, leaveUnanswered, appliesToHandedOff},
	{"after the handoff", soonHandOff, answerAfterHandoff, appliesToHandedOff},
	{"while it is resumed", soonHandOff, answerWhileResumed, appliesToHandedOff},
}

func TestAnswersByEveryRoute(t *testing.T) {
	for transport, connect := range transports {
		for _, k := range callerKinds {
			for _, a := range answerCases {
				for _, action := range actions {
					if !a.appliesTo(k) {
						continue
					}
					t.Run(strings.Join([]string{transport, k.name, a.name, action}, "/"), func(t *testing.T) {
						t.Parallel()
						b := newTestBeam(t, mcp.AskPolicy{Link: true, Handoff: a.handoff, KeepAlive: 20 * time.Millisecond})
						a.test(t, b, k.startCall(connect(b)), action)
					})
				}
			}
		}
	}
}

// wantOutcome returns the outcome of an action, and what the browser's page says about
// it.
func wantOutcome(action, word string) (outcome, page string) {
	switch action {
	case "accept":
		return "accept " + word, "This question was answered "
	case "decline":
		return action, "This question was declined "
	}
	return action, "This question was dismissed "
}

func expectEqual(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// The caller answers, and the browser shows it. If the caller was asked to open a page
// and accepts, the answer is given on the page.
func answerByCaller(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	outcome, page := wantOutcome(action, "caller")
	c.sendAnswer(action, "caller")
	if c.opensPage && action == "accept" {
		if !p.postAnswer(id, action, "caller") {
			t.Error("the page that the caller opened takes no answer")
		}
	}
	expectEqual(t, "what the tool got", b.nextOutcome(), outcome)
	expectEqual(t, "the result", c.awaitResult().text(), c.maskSecret(outcome))
	if c.opensPage && action == "accept" {
		p.expectPage(id, page+"in the browser")
	} else {
		p.expectPage(id, page+"by the MCP client")
	}
	if p.postAnswer(id, "accept", "late") {
		t.Error("the browser's late answer was recorded")
	}
	b.expectNoOutcome()
}

// The browser answers. The caller's question is withdrawn, and its late answer has no
// effect.
func answerByBrowser(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	outcome, page := wantOutcome(action, "browser")
	if !p.postAnswer(id, action, "browser") {
		t.Error("the browser's answer was not recorded")
	}
	expectEqual(t, "what the tool got", b.nextOutcome(), outcome)
	if c.requestState != "" {
		c.sendAnswer("accept", "late") // its retry gets the current state of the run
	}
	expectEqual(t, "the result", c.awaitOutcome().text(), c.maskSecret(outcome))
	c.expectSettlementNotice(action)
	if c.canBeAsked && c.requestState == "" {
		c.sendAnswer("accept", "late")
	}
	p.expectPage(id, page+"in the browser")
	b.expectNoOutcome()
}

// Both answer at once. One wins, and both see which.
func answerByBoth(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	if c.opensPage && action == "accept" {
		// The caller's accept is not an answer, so two browsers race instead.
		other := b.newOperatorBrowser()
		c.sendAnswer(action, "")
		raceAnswers(t, b, func() bool { return p.postAnswer(id, action, "browser") }, func() bool { return other.postAnswer(id, action, "caller") }, action, c)
		c.expectSettlementNotice(action)
		return
	}
	raceAnswers(t, b, func() bool { return p.postAnswer(id, action, "browser") }, func() bool { c.sendAnswer(action, "caller"); return false }, action, c)
	_, page := wantOutcome(action, "")
	p.expectPage(id, page)
}

// raceAnswers lets two answer at once, and expects the tool to get the winner's answer.
// The caller has won if the browser was refused.
func raceAnswers(t *testing.T, b *testBeam, first, second func() bool, action string, c *caller) {
	t.Helper()
	var both sync.WaitGroup
	var won bool
	both.Go(func() { won = first() })
	both.Go(func() { second() })
	both.Wait()
	winner := "caller"
	if won {
		winner = "browser"
	}
	outcome, _ := wantOutcome(action, winner)
	expectEqual(t, "what the tool got", b.nextOutcome(), outcome)
	expectEqual(t, "the result", c.awaitResult().text(), c.maskSecret(outcome))
}

// Nobody answers. The call ends with the link, the question stays open, and its owner
// can see it, but a stranger is asked to sign in.
func leaveUnanswered(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	expectHandoff(t, b, c)
	expectEqual(t, "the open question", p.awaitOpenAsk(), id)
	p.expectPage(id, "Which word?")
	stranger := b.newStranger()
	if page := stranger.getPage("/asks/"+id, "text/html"); !strings.Contains(page, "Sign in") || strings.Contains(page, "Which word?") {
		t.Errorf("a stranger sees %s", page)
	}
	if p.postAnswer(id, action, "at last"); b.nextOutcome() == "" {
		t.Error("the question can't be answered any more")
	}
}

// expectHandoff expects the result of a call that nobody answered.
func expectHandoff(t *testing.T, b *testBeam, c *caller) *toolResult {
	t.Helper()
	r := c.awaitResult()
	b.expectNoOutcome()
	if text := r.text(); !strings.Contains(text, b.origin+"/asks/") || !strings.Contains(text, "beam_resume") || r.Meta.Waiting.Run == "" {
		t.Errorf("the result says %q, want where to answer and how to go on", text)
	}
	if c.canBeAsked {
		c.expectSettlementNotice("") // it was withdrawn
	}
	return r
}

// The browser answers after the call has ended, and the caller's late answer has no
// effect. Resuming returns the result.
func answerAfterHandoff(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	r := expectHandoff(t, b, c)
	if c.canBeAsked {
		c.sendAnswer("accept", "late")
	}
	outcome, page := wantOutcome(action, "browser")
	if !p.postAnswer(id, action, "browser") {
		t.Error("the browser's answer was not recorded")
	}
	expectEqual(t, "what the tool got", b.nextOutcome(), outcome)
	c.callResumeTool(r)
	expectEqual(t, "the result", c.awaitResult().text(), c.maskSecret(outcome))
	p.expectPage(id, page+"in the browser")
}

// The call is resumed, and the browser answers while it waits. A caller that can be
// asked is asked again, and answers itself. On a slow machine it may be handed off
// before, and is then resumed once more.
func answerWhileResumed(t *testing.T, b *testBeam, c *caller, action string) {
	p := b.newOperatorBrowser()
	id := p.awaitOpenAsk()
	r := expectHandoff(t, b, c)
	outcome, page := wantOutcome(action, "browser")
	if c.canBeAsked && !c.opensPage {
		outcome, page = wantOutcome(action, "caller")
	}
	answered := false
	for {
		c.callResumeTool(r)
		switch {
		case answered:
		case c.canBeAsked && !c.opensPage:
			c.awaitQuestion()
			c.sendAnswer(action, "caller")
		default:
			c.awaitQuestion()
			answered = p.postAnswer(id, action, "browser")
		}
		if text := c.awaitResult().text(); !strings.Contains(text, "beam_resume") {
			expectEqual(t, "the result", text, c.maskSecret(outcome))
			break
		}
	}
	expectEqual(t, "what the tool got", b.nextOutcome(), outcome)
	p.expectPage(id, page)
}
