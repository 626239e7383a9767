package matrix

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

var actions = []string{"accept", "decline", "cancel"}

// An answering is who answers, and when.
type answering struct {
	name    string
	handoff time.Duration
	test    func(t *testing.T, b *beam, c *caller, action string)
	// applies tells for which callers there is such a thing.
	applies func(kind) bool
}

const never, soon = time.Hour, 100 * time.Millisecond

func always(kind) bool  { return true }
func asked(k kind) bool { return k.asked }

// handsOff: a caller whose question is its call's result waits for nothing.
func handsOff(k kind) bool { return !k.asked || k.version != july2026 }

var answerings = []answering{
	{"by the caller", never, byCaller, asked},
	{"by the browser", never, byBrowser, always},
	{"by both at once", never, byBoth, asked},
	{"by nobody", soon, byNobody, handsOff},
	{"after the handoff", soon, afterHandoff, handsOff},
	{"while it is resumed", soon, whileResumed, handsOff},
}

func TestMatrix(t *testing.T) {
	for transport, connect := range transports {
		for _, k := range kinds {
			for _, a := range answerings {
				for _, action := range actions {
					if !a.applies(k) {
						continue
					}
					t.Run(strings.Join([]string{transport, k.name, a.name, action}, "/"), func(t *testing.T) {
						t.Parallel()
						b := newBeam(t, mcp.Asking{Link: true, Handoff: a.handoff, KeepAlive: 20 * time.Millisecond})
						a.test(t, b, k.call(connect(b)), action)
					})
				}
			}
		}
	}
}

// want is the outcome of an action, and what a browser's page says of it.
func want(action, word string) (outcome, page string) {
	switch action {
	case "accept":
		return "accept " + word, "This question was answered "
	case "decline":
		return action, "This question was declined "
	}
	return action, "This question was cancelled "
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// The caller answers; the browser sees that it did. What a caller accepts that
// was asked to open a page, is given there.
func byCaller(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	outcome, page := want(action, "caller")
	c.answer(action, "caller")
	if c.page && action == "accept" {
		if !p.answer(id, action, "caller") {
			t.Error("the page that the caller opened takes no answer")
		}
	}
	same(t, "what the tool got", b.got(), outcome)
	same(t, "the result", c.reply().text(), outcome)
	if c.page && action == "accept" {
		p.sees(id, page+"in the browser")
	} else {
		p.sees(id, page+"by the MCP client")
	}
	if p.answer(id, "accept", "late") {
		t.Error("the browser's late answer was taken")
	}
	b.nothing()
}

// The browser answers; the caller's question is taken back, and a late answer
// of its changes nothing.
func byBrowser(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	outcome, page := want(action, "browser")
	if !p.answer(id, action, "browser") {
		t.Error("the browser's answer was not taken")
	}
	same(t, "what the tool got", b.got(), outcome)
	if c.round != "" {
		c.answer("accept", "late") // its retry gets the run as it is
	}
	same(t, "the result", c.reply().text(), outcome)
	c.told(action)
	if c.asked && c.round == "" {
		c.answer("accept", "late")
	}
	p.sees(id, page+"in the browser")
	b.nothing()
}

// Both answer at once: one wins, and everybody says which.
func byBoth(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	if c.page && action == "accept" {
		// The caller's accept is no answer, so that two browsers race.
		other := b.person()
		c.answer(action, "")
		race(t, b, func() bool { return p.answer(id, action, "browser") }, func() bool { return other.answer(id, action, "caller") }, action, c)
		c.told(action)
		return
	}
	race(t, b, func() bool { return p.answer(id, action, "browser") }, func() bool { c.answer(action, "caller"); return false }, action, c)
	_, page := want(action, "")
	p.sees(id, page)
}

// race lets two answer, and expects the tool to have got the answer of the one
// that won, which for the caller is the one of the browser that was refused.
func race(t *testing.T, b *beam, first, second func() bool, action string, c *caller) {
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
	outcome, _ := want(action, winner)
	same(t, "what the tool got", b.got(), outcome)
	same(t, "the result", c.reply().text(), outcome)
}

// Nobody answers: the call ends with the link, the question stays open, and
// its owner can see it, where a stranger is asked to sign in.
func byNobody(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	handedOff(t, b, c)
	same(t, "the open question", p.inbox(), id)
	p.sees(id, "Which word?")
	stranger := b.stranger()
	if page := stranger.get("/asks/"+id, "text/html"); !strings.Contains(page, "Sign in") || strings.Contains(page, "Which word?") {
		t.Errorf("a stranger sees %s", page)
	}
	if p.answer(id, action, "at last"); b.got() == "" {
		t.Error("the question can't be answered any more")
	}
}

// handedOff is the result of a call that nobody answered.
func handedOff(t *testing.T, b *beam, c *caller) *result {
	t.Helper()
	r := c.reply()
	b.nothing()
	if text := r.text(); !strings.Contains(text, b.origin+"/asks/") || !strings.Contains(text, "beam_resume") || r.Meta.Waiting.Run == "" {
		t.Errorf("the result says %q, want where to answer and how to go on", text)
	}
	if c.asked {
		c.told("") // it was taken back
	}
	return r
}

// The browser answers when the call has ended; a late answer of the caller's is
// none. Resuming gives the result.
func afterHandoff(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	r := handedOff(t, b, c)
	if c.asked {
		c.answer("accept", "late")
	}
	outcome, page := want(action, "browser")
	if !p.answer(id, action, "browser") {
		t.Error("the browser's answer was not taken")
	}
	same(t, "what the tool got", b.got(), outcome)
	c.resume(r)
	same(t, "the result", c.reply().text(), outcome)
	p.sees(id, page+"in the browser")
}

// The call is resumed, and answered by the link while it waits. A caller that
// can be asked is asked again, and answers itself; if the machine is so slow
// that it is handed off before, once more.
func whileResumed(t *testing.T, b *beam, c *caller, action string) {
	p := b.person()
	id := p.inbox()
	r := handedOff(t, b, c)
	outcome, page := want(action, "browser")
	if c.asked && !c.page {
		outcome, page = want(action, "caller")
	}
	answered := false
	for {
		c.resume(r)
		switch {
		case answered:
		case c.asked && !c.page:
			c.hear()
			c.answer(action, "caller")
		default:
			c.hear()
			answered = p.answer(id, action, "browser")
		}
		if text := c.reply().text(); !strings.Contains(text, "beam_resume") {
			same(t, "the result", text, outcome)
			break
		}
	}
	same(t, "what the tool got", b.got(), outcome)
	p.sees(id, page)
}
