package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A follower sends a client the entries of a run's log. A call has one for each stream
// that it is sent on.
type follower struct {
	*call
	sender   messageSender
	inFlight *inFlightRequest // the request that the stream belongs to
	lastSent uint64           // sequence number of the last entry that was sent
	state    msg.State

	// timer calls wake when something other than an entry is due; nextKeepAlive is
	// when the next keep-alive is. The call's mu guards all three.
	timer         *time.Timer
	wake          func()
	nextKeepAlive time.Time
}

func (c *call) newFollower(out messageSender, inFlight *inFlightRequest) *follower {
	return &follower{call: c, sender: out, inFlight: inFlight, lastSent: c.followAfter}
}

// catchUp reads the entries that the client received before, up to after, without
// sending them.
func (f *follower) catchUp(ctx context.Context, after uint64) error {
	f.lastSent = after
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID, 0)
	if err != nil {
		return err
	}
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for _, e := range batch {
			if e.Seq > after {
				return nil
			}
			if err := f.skipEvent(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipEvent updates the follower's state with an event that the client received before.
func (f *follower) skipEvent(e runlog.Entry) error {
	_, err := f.convertEvent(e)
	return err
}

// followRun sends entries until the run or the request ends, and returns the call's
// reply.
func (f *follower) followRun() reply {
	defer f.stopWaiting()
	ctx := f.inFlight.newContext()
	for {
		if r, done := f.followUntilDue(ctx); done {
			return r
		}
		if r, done := f.runDueActions(ctx); done {
			return r
		}
	}
}

// followUntilDue sends entries until the call is over or a timer is due.
func (f *follower) followUntilDue(ctx context.Context) (r reply, done bool) {
	until, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	f.setWakeFunc(func() { wake(errTimerDue) })
	batches, err := f.server.engine.Follow(until, f.client.caller, f.runID, f.lastSent)
	if err != nil {
		return f.internalErrorReply(err), true
	}
	for batch, err := range batches {
		if err != nil && context.Cause(until) == errTimerDue {
			break
		}
		if r, done := f.handleBatch(ctx, batch, err); done {
			return r, true
		}
		f.scheduleTimer()
	}
	switch {
	case context.Cause(until) == errTimerDue:
		return reply{}, false
	case ctx.Err() == nil: // the log has no end: the run was deleted
		return f.internalErrorReply(engine.ErrRunNotFound), true
	}
	return f.handleRequestEnd(context.Cause(ctx)), true
}

// handleBatch sends a batch of entries. It returns the call's reply if that ends the
// call.
func (f *follower) handleBatch(ctx context.Context, batch []runlog.Entry, err error) (r reply, done bool) {
	for _, e := range batch {
		if err != nil {
			break
		}
		if cause := f.inFlight.cancelCause(); cause != nil {
			return f.handleRequestEnd(cause), true
		}
		if err = f.handleEntry(ctx, e); err == nil && e.Kind == runlog.KindFinished {
			return f.buildFinalReply(ctx, e), true
		}
		f.lastSent = e.Seq
	}
	switch {
	case err == nil:
		return reply{}, false
	case ctx.Err() != nil:
		return f.handleRequestEnd(context.Cause(ctx)), true
	}
	return f.failureReply(err), true
}

// handleRequestEnd ends a call whose request ended before its run.
func (f *follower) handleRequestEnd(cause error) reply {
	switch {
	case errors.Is(cause, errRequestCancelled):
		f.cancelCall()
	case errors.Is(cause, errClientLeft), errors.Is(cause, errClientGone) && f.session.proxied:
		f.abandonRun()
	}
	return reply{}
}

// handleEntry sends what the client must learn from one entry.
func (f *follower) handleEntry(ctx context.Context, e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindAsked:
		return f.sendQuestion(ctx, e.Seq)
	case runlog.KindAnswered, runlog.KindWithdrawn:
		s, err := runlog.Decode[msg.Settlement](e)
		if err != nil {
			return err
		}
		f.forgetLink(s.AskSeq)
		return f.settleRequest(f.sender, s, s.Describe())
	}
	return f.sendEvent(e)
}

// sendEvent sends the notification of an event.
func (f *follower) sendEvent(e runlog.Entry) error {
	notification, err := f.convertEvent(e)
	if err != nil || notification == nil {
		return err
	}
	f.recordProgress()
	return f.sender.send(f.cursor(e.Seq), notification)
}

// buildFinalReply returns the reply for a run that has ended.
func (f *follower) buildFinalReply(ctx context.Context, e runlog.Entry) reply {
	f.stopAsking()
	ended, err := runlog.Decode[runlog.Finished](e)
	if err != nil {
		return f.internalErrorReply(err)
	}
	if f.isResume {
		ended = explainInterruption(ended)
	}
	if missing := f.findMissingCapability(ended); missing != nil && f.client.IsModern() {
		return errorReply(f.requestID, missing.RPCError())
	}
	result, err := f.buildResult(context.WithoutCancel(ctx), ended)
	if err != nil {
		return f.internalErrorReply(err)
	}
	return f.resultReply(result, f.cursor(e.Seq))
}

// findMissingCapability returns the missing capabilities that made the run fail, or
// nil.
func (c *call) findMissingCapability(end runlog.Finished) (missing *msg.MissingCapability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.Status != runlog.Failed {
		return nil
	}
	for _, l := range c.missingCapabilities {
		if strings.Contains(end.Error, l.Error()) {
			missing = missing.Merge(l)
		}
	}
	return missing
}
