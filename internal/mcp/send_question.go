package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// sendQuestion asks the client a question. A question that the client can't be asked is
// left open; see [follower.leaveQuestionOpen]. A question that was asked before is sent
// again, for a client that resumes.
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
		return p.resend(out, &open.Asked)
	}
	request, err := f.requestFor(ctx, open, seq)
	if request == nil {
		return err
	}
	p = &pendingRequest{call: c, askSeq: seq, acceptIsConsent: request.AcceptIsConsent}
	c.mu.Lock()
	if !c.askingStopped {
		c.pending = append(c.pending, p)
	}
	c.mu.Unlock()
	return p.send(out, *request)
}

// requestFor returns the request that asks the client an open question, or nil if the
// client can't be asked. The question is then left open or withdrawn.
func (f *follower) requestFor(ctx context.Context, open engine.OpenAsk, seq uint64) (*msg.Request, error) {
	if open.Excluded {
		return nil, f.leaveToOthers(open, seq)
	}
	request, missing, err := f.buildClientRequest(&open.Asked, open.ID)
	switch {
	case err != nil:
		return nil, f.withdrawUnsupported(ctx, open.ID, nil, err)
	case missing != nil && f.isTask && tasks.IsAnswerableElsewhere(open.Question):
		return nil, nil
	case missing != nil:
		return nil, f.leaveQuestionOpen(ctx, open, seq, missing)
	}
	return &request, nil
}

// leaveQuestionOpen leaves a question open that the client can't be asked, and sends
// the client the address of its page, unless the call's view asks it. Without
// [AskPolicy.Link] it withdraws the question.
func (f *follower) leaveQuestionOpen(ctx context.Context, open engine.OpenAsk, seq uint64, missing *msg.MissingCapability) error {
	if !f.server.askPolicy.Link {
		return f.withdrawUnsupported(ctx, open.ID, missing, nil)
	}
	inChat := f.asksInChat()
	if _, err := f.askPageURL(open.ID); err != nil && !inChat {
		return f.withdrawUnsupported(ctx, open.ID, missing, err)
	}
	f.addLink(open, seq)
	if inChat { // the view asks, as soon as the call has ended
		return nil
	}
	return f.sendAskLink(open.ID, msg.LineSaidBy(open.Question, open.Photon))
}

// leaveToOthers leaves a question open that the client's user may not answer, and tells the
// client who may.
func (f *follower) leaveToOthers(open engine.OpenAsk, seq uint64) error {
	if f.isTask {
		return nil
	}
	f.addLink(open, seq)
	text := fmt.Sprintf("Waits for %s to answer: %s", open.For, msg.LineSaidBy(open.Question, open.Photon))
	return f.sendUnrecorded(f.buildStatusNotification(text), f.translator().LogMessage(generators.Notice, text, "log"))
}

// addLink records that the client can't be asked a question.
func (f *follower) addLink(open engine.OpenAsk, seq uint64) {
	inChat := f.asksInChat()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.linkedAsks == nil {
		f.linkedAsks = map[uint64]struct{}{}
	}
	f.linkedAsks[seq] = struct{}{}
	f.shownInChat = inChat && !open.More
}

// withdrawUnsupported withdraws a question that the client can't be asked, and records
// the missing capability.
func (c *call) withdrawUnsupported(ctx context.Context, askID string, missing *msg.MissingCapability, err error) error {
	if err == nil {
		c.mu.Lock()
		c.missingCapabilities, err = append(c.missingCapabilities, missing), missing
		c.mu.Unlock()
	}
	return c.withdrawQuestion(ctx, askID, runlog.Unsupported, err.Error())
}

// withdrawQuestion withdraws a question, unless others are to answer it. It is not an error
// if the question was settled meanwhile.
func (c *call) withdrawQuestion(ctx context.Context, askID string, reason runlog.WithdrawReason, text string) error {
	if open, err := c.server.engine.OpenAsk(ctx, c.client.caller, askID); err == nil && open.Excluded {
		return nil
	}
	err := c.server.engine.Withdraw(ctx, c.client.caller, askID, reason, text)
	if errors.Is(err, engine.ErrSettled) {
		return nil
	}
	return err
}
