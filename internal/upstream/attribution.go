package upstream

import (
	"context"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/client"
)

// Servers before 2026-07-28 don't say, over stdio, which of the calls in progress a
// question belongs to. A connection has one owner and one session of the owner's clients, so
// it is never asked of somebody else. Of the connection's calls, Beam chooses one whose tool is known to ask, or else the one that
// began last, and lets calls of tools that have asked follow each other from then on. If it
// was the wrong one, the answer still reaches the call that asked.

// A callTag is what Beam knows of a call.
type callTag struct {
	tool string // empty for other methods
}

// takeTurn adds a call to those of a connection. If its tool is known to ask, it first
// waits until no other such call is in progress. The caller calls end when the call has
// ended. The error is that of ctx.
func (u *Upstream) takeTurn(ctx context.Context, yield generators.Yield, c *connection, tag *callTag) (end func(), err error) {
	for told := false; ; told = true {
		changed := u.tryTurn(c, tag)
		if changed == nil {
			return func() { u.endTurn(c, tag) }, nil
		}
		if !told {
			yield(generators.Status("Waits for another call of this server, which may ask a question"))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryTurn adds a call to those of a connection, or returns a channel that is closed when
// one of them ends.
func (u *Upstream) tryTurn(c *connection, tag *callTag) (changed <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asking[tag.tool] && !c.session.TellsCalls() {
		for other := range c.inProgress {
			if u.asking[other.tool] {
				return c.turnChanged
			}
		}
	}
	c.inProgress[tag] = struct{}{}
	return nil
}

func (u *Upstream) endTurn(c *connection, tag *callTag) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(c.inProgress, tag)
	close(c.turnChanged)
	c.turnChanged = make(chan struct{})
}

func (u *Upstream) isAsking(tool string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asking[tool]
}

// learnAsking remembers that a tool asks.
func (u *Upstream) learnAsking(tool string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.asking) < maxListedTools {
		u.asking[tool] = true
	}
}

// chooseCall chooses the call that a question belongs to, of those of one connection.
func (u *Upstream) chooseCall(_ *client.ServerRequest, inProgress []*client.Call) *client.Call {
	slices.SortFunc(inProgress, func(a, b *client.Call) int { return b.Began().Compare(a.Began()) })
	for _, c := range inProgress {
		if u.isAsking(toolOfCall(c)) {
			return c
		}
	}
	return inProgress[0]
}

func toolOfCall(c *client.Call) string {
	tag, _ := c.Request().Tag.(*callTag)
	if tag == nil {
		return ""
	}
	return tag.tool
}
