package upstream

import (
	"slices"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// Servers before 2026-07-28 don't say, over stdio and on the stream of an HTTP session, which
// of the calls in progress a question belongs to. A connection has one owner and, over stdio,
// one session of the owner's clients, so it is never asked of somebody else. The run of one of
// the connection's calls asks it, and says that it may be another's. It stays open until all
// those calls have ended, even if its own has, and is asked by the next one if that run is
// stopped. The answer goes to the server whichever run asks.

// attribution knows which callees ask. Its methods may be called concurrently.
type attribution struct {
	mu   sync.Mutex
	asks map[string]bool // what is known, by callee
}

// choose chooses the call whose run asks a question: one without another open question,
// whose tool is known to ask, or at least isn't known to end without that. Of several, it
// chooses the latest tool, and its oldest call, since a server usually asks in the order in
// which it was called.
func (a *attribution) choose(_ *client.ServerRequest, inProgress []*client.Call) *client.Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	rank := func(c *client.Call) (n int) {
		switch asks, known := a.asks[callee(c.Request())]; {
		case asks:
			n = 2
		case !known:
			n = 1
		}
		if !c.IsAsking() {
			n += 3
		}
		return n
	}
	best := slices.MaxFunc(inProgress, func(x, y *client.Call) int {
		if rx, ry := rank(x), rank(y); rx != ry {
			return rx - ry
		}
		return x.Began().Compare(y.Began())
	})
	for _, c := range inProgress {
		if rank(c) == rank(best) && callee(c.Request()) == callee(best.Request()) && c.Began().Before(best.Began()) {
			best = c
		}
	}
	return best
}

// callee names what a request calls: a tool, or a prompt or the like.
func callee(r client.Request) string { return r.Method + " " + toolOf(r) }

// learn remembers that what a request calls asks, or has ended without that.
func (a *attribution) learn(r client.Request, asks bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := callee(r)
	if _, known := a.asks[name]; known && asks || !known && len(a.asks) < maxListedTools {
		a.asks[name] = asks
	}
}
