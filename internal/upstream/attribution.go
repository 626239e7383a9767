package upstream

import (
	"context"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/client"
)

// Servers before 2026-07-28 don't say, over stdio, which of the calls in progress a
// question belongs to. A connection has one owner, so it is never asked of somebody else.
// Of the owner's calls, Beam chooses one whose tool is known to ask, and lets calls of
// such tools follow each other from then on.

// A callTag is what Beam knows of a call.
type callTag struct{ tool string }

// takeTurn waits until no other call of the connection is in progress whose tool is known
// to ask, if this call's tool is. The caller calls end when the call has ended. The error
// is that of ctx.
func (u *Upstream) takeTurn(ctx context.Context, yield generators.Yield, c *connection, tool string) (end func(), err error) {
	if c.session.TellsCalls() || !u.isAsking(tool) {
		return func() {}, nil
	}
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	default:
	}
	yield(generators.Status("Waits for another call of this server, which may ask a question"))
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (u *Upstream) isAsking(tool string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asking[tool]
}

// learnAsking remembers that tools ask.
func (u *Upstream) learnAsking(tools ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range tools {
		if len(u.asking) < maxListedTools {
			u.asking[t] = true
		}
	}
}

// chooseCall chooses the call that a question belongs to, of those of one connection.
func (u *Upstream) chooseCall(_ *client.ServerRequest, inProgress []*client.Call) *client.Call {
	slices.SortFunc(inProgress, func(a, b *client.Call) int { return b.Began().Compare(a.Began()) })
	for _, c := range inProgress {
		if u.isAsking(toolOfCall(c)) { // there is at most one, after it has been learned
			return c
		}
	}
	for _, c := range inProgress {
		u.learnAsking(toolOfCall(c))
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
