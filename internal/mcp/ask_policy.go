package mcp

import "time"

// AskPolicy says what happens to a question that the client can't be asked, or
// does not answer.
type AskPolicy struct {
	// Link has the client told the address of the question's page, where
	// somebody may answer it; the call waits. Without it, a question that the
	// client can't be asked is withdrawn.
	Link bool
	// Handoff is how long a call then waits before it ends with a result that
	// names the address and a handle, with which [ResumeTool] takes the run up
	// again; 0 is for ever. Without Link it means nothing.
	Handoff time.Duration
	// KeepAlive is how often a call that waits and has a progress token tells
	// so, for callers that begin their time-out anew on progress; 0 is never.
	KeepAlive time.Duration
}

// allowsHandoff tells whether calls end before their runs do.
func (a AskPolicy) allowsHandoff() bool { return a.Link && a.Handoff > 0 }

// canHandOff tells whether the call ends before its run does. A task's result is
// its run's.
func (c *call) canHandOff() bool { return c.server.askPolicy.allowsHandoff() && !c.isTask }

// linkDelay is how long a client that was asked may be silent before it is
// told where else the question can be answered.
func (a AskPolicy) linkDelay() time.Duration {
	const most = 20 * time.Second
	if a.Handoff > 0 {
		return min(a.Handoff/2, most)
	}
	return most
}
