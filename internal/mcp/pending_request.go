package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A pendingRequest is a question that is before the client as a request of ours
// (2025-06-18 and 2025-11-25). It remembers no more than it has to: thousands
// may wait. What changes is guarded by the call's mu.
type pendingRequest struct {
	call            *call
	askSeq          uint64
	acceptIsConsent bool                     // an accept is no answer; see [clientRequest]
	invalidAnswers  uint32                   // how many answers did not fit
	lastInvalid     *generators.InvalidError // the last of them; nil if there was none
}

// pendingRequests are the questions of a call that are before the client: most often one,
// seldom many, in the order in which they were put.
type pendingRequests []*pendingRequest

// find is the one with an ordinal, or nil.
func (ps pendingRequests) find(seq uint64) *pendingRequest {
	if i := ps.indexOf(seq); i >= 0 {
		return ps[i]
	}
	return nil
}

func (ps pendingRequests) indexOf(seq uint64) int {
	return slices.IndexFunc(ps, func(p *pendingRequest) bool { return p.askSeq == seq })
}

// remove takes the one with an ordinal out and returns it, or nil.
func (ps *pendingRequests) remove(seq uint64) *pendingRequest {
	i := ps.indexOf(seq)
	if i < 0 {
		return nil
	}
	p := (*ps)[i]
	*ps = slices.Delete(*ps, i, i+1)
	return p
}

// maxAttempts bounds how often a client is asked again for an answer that
// fits.
const maxAttempts = 3

// sendQuestion puts a question to the client; if that can't be asked, see [follower.leaveQuestionOpen].
// A question that was put before is sent again, to a client that
// resumes.
func (f *follower) sendQuestion(ctx context.Context, seq uint64) error {
	c, out, id := f.call, f.sender, runlog.AskID(f.runID, seq)
	open, err := c.server.engine.OpenAsk(ctx, c.client.caller, id)
	switch {
	case errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound):
		return nil
	case err != nil:
		return err
	}
	c.mu.Lock()
	p := c.pending.find(seq)
	c.mu.Unlock()
	if p != nil {
		return p.resend(out, open.Question)
	}
	b, missing, err := c.buildClientRequest(open.Question, id)
	switch {
	case missing != nil && c.isTask && isAnswerableElsewhere(open.Question):
		return nil
	case err != nil:
		return c.withdrawUnsupported(ctx, id, nil, err)
	case missing != nil:
		return f.leaveQuestionOpen(ctx, open, seq, missing)
	}
	p = &pendingRequest{call: c, askSeq: seq, acceptIsConsent: b.AcceptIsConsent}
	c.mu.Lock()
	if !c.askingStopped {
		c.pending = append(c.pending, p)
	}
	c.mu.Unlock()
	return p.send(out, b)
}

// withdrawUnsupported withdraws a question that the client can't be asked, and remembers
// what it lacks.
func (c *call) withdrawUnsupported(ctx context.Context, askID string, missing *missingCapability, err error) error {
	if err == nil {
		c.mu.Lock()
		c.lacks, err = append(c.lacks, missing), missing
		c.mu.Unlock()
	}
	return c.withdrawQuestion(ctx, askID, runlog.Unsupported, err.Error())
}

// withdrawQuestion settles a question that can't be answered. Somebody else may have
// settled it first.
func (c *call) withdrawQuestion(ctx context.Context, askID string, reason runlog.WithdrawReason, text string) error {
	err := c.server.engine.Withdraw(ctx, c.client.caller, askID, reason, text)
	if errors.Is(err, engine.ErrSettled) {
		return nil
	}
	return err
}

// send sends the question's request, unless it was settled meanwhile.
func (p *pendingRequest) send(out messageSender, r clientRequest) error {
	c := p.call
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.mu.Lock()
	id, live := p.requestID(), !c.askingStopped && c.pending.find(p.askSeq) == p
	c.mu.Unlock()
	if !live {
		return nil
	}
	return c.session.sendRequest(out, c.cursor(p.askSeq), id, r.Method, c.withRelatedTask(r.Params), p)
}

// resend sends the question's request once more, with what was wrong with the
// answer before.
func (p *pendingRequest) resend(out messageSender, q *ask.Question) error {
	b, missing, err := p.call.buildClientRequest(q, runlog.AskID(p.call.runID, p.askSeq))
	if err != nil || missing != nil {
		return err
	}
	p.call.mu.Lock()
	if p.lastInvalid != nil {
		b = b.WithErrors(p.lastInvalid.Fields)
	}
	p.call.mu.Unlock()
	return p.send(out, b)
}

// requestID is the request's id: the ask's. A question that is asked again is another
// request.
func (p *pendingRequest) requestID() string {
	id := p.call.askRequestID(p.askSeq)
	if p.invalidAnswers > 0 {
		id = fmt.Sprintf("%s#%d", id, p.invalidAnswers+1)
	}
	return id
}

// settleRequest takes a question back that is settled. A client that still shows it
// is told why, one that opened Beam's page for it that it is complete.
func (c *call) settleRequest(out messageSender, s settlement, why string) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.mu.Lock()
	p := c.pending.remove(s.AskSeq)
	if len(c.pending) == 0 {
		c.linksSent = false
	}
	id := ""
	if p != nil {
		id = p.requestID()
	}
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	open := c.session.forgetRequest(id)
	var err error
	if p.acceptIsConsent && s.IsAccepted() {
		err = out.send("", encodeNotification("notifications/elicitation/complete", map[string]any{"elicitationId": runlog.AskID(c.runID, s.AskSeq)}))
	}
	if open && err == nil {
		err = out.send("", encodeNotification("notifications/cancelled", map[string]any{"requestId": id, "reason": why}))
	}
	return err
}
