// Package clientsession tells code that serves a run which client has started it: in which
// session, and what that client can be asked.
package clientsession

import "context"

// A Client is the client that has started a run. It is immutable. A nil *Client is that of
// a run which no client with a session has started.
type Client struct {
	// Session identifies the client's session in this process; empty if it has none, as
	// clients of MCP 2026-07-28 over HTTP.
	Session string
	// Ended is closed when the session has ended; nil if there is none.
	Ended <-chan struct{}
	// Only, if it is set, is what can be asked: nobody is asked what the client can't be.
	// Otherwise that is asked elsewhere.
	Only *Abilities
	// Presence tells whether the client is connected, if that matters.
	Presence *Presence
}

// Abilities are what a client can be asked.
type Abilities struct {
	Forms, URLs             bool // elicitation, in its modes
	Sampling, SamplingTools bool
	Roots                   bool
}

// And returns the abilities that a and b have in common.
func (a Abilities) And(b Abilities) Abilities {
	return Abilities{
		Forms: a.Forms && b.Forms, URLs: a.URLs && b.URLs, Roots: a.Roots && b.Roots,
		Sampling: a.Sampling && b.Sampling, SamplingTools: a.SamplingTools && b.SamplingTools,
	}
}

type key struct{}

// With returns a context for a run that a client has started.
func With(ctx context.Context, c *Client) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, c)
}

// Of returns the client that has started the run which ctx belongs to. It is the zero
// value if none did, or if the run was started by an earlier process.
func Of(ctx context.Context) Client {
	if c, _ := ctx.Value(key{}).(*Client); c != nil {
		return *c
	}
	return Client{}
}

// HasEnded reports whether the client's session has ended.
func (c Client) HasEnded() bool {
	select {
	case <-c.Ended:
		return true
	default:
		return false
	}
}
