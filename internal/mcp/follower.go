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

// A follower tells a client what follows an ordinal of a run's log. A call has
// one for each stream that it is told on.
type follower struct {
	*call
	sender   messageSender
	inFlight *inFlightRequest // of the request that the stream belongs to
	lastSent uint64           // the last entry that the client was told
	state    msg.State

	// alarm calls wake when something is due that no entry of the log says; beat
	// is when it is due to tell that the call waits. The call's mu guards them.
	alarm         *time.Timer
	wake          func()
	nextKeepAlive time.Time
}

func (c *call) newFollower(out messageSender, inFlight *inFlightRequest) *follower {
	return &follower{call: c, sender: out, inFlight: inFlight, lastSent: c.followAfter}
}

// catchUp takes in what the client was told before, without telling it again.
func (f *follower) catchUp(ctx context.Context, after uint64) error {
	f.lastSent = after
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID)
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

// skipEvent takes in an event that the client was told before.
func (f *follower) skipEvent(e runlog.Entry) error {
	_, err := f.convertEvent(e)
	return err
}

// followRun tells what comes, until the run ends or the request does.
func (f *follower) followRun() reply {
	defer f.stopWaiting()
	ctx := f.inFlight.newContext()
	for {
		if r, over := f.followUntilDue(ctx); over {
			return r
		}
		if r, over := f.runDueActions(ctx); over {
			return r
		}
	}
}

// followUntilDue tells what comes, until the call is over or something else is due.
func (f *follower) followUntilDue(ctx context.Context) (r reply, over bool) {
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
		if r, over := f.handleBatch(ctx, batch, err); over {
			return r, true
		}
		f.scheduleTimer()
	}
	switch {
	case context.Cause(until) == errTimerDue:
		return reply{}, false
	case ctx.Err() == nil: // the log ended without the run's end: it was deleted
		return f.internalErrorReply(engine.ErrRunNotFound), true
	}
	return f.handleRequestEnd(context.Cause(ctx)), true
}

// handleBatch tells a batch of entries. It returns the call's reply when it is
// over.
func (f *follower) handleBatch(ctx context.Context, batch []runlog.Entry, err error) (r reply, over bool) {
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

// handleRequestEnd ends a call whose request has ended before its run.
func (f *follower) handleRequestEnd(cause error) reply {
	switch {
	case errors.Is(cause, errRequestCancelled):
		f.cancelCall()
	case errors.Is(cause, errClientLeft), errors.Is(cause, errClientGone) && f.session.proxied:
		f.abandonRun()
	}
	return reply{}
}

// handleEntry tells one entry.
func (f *follower) handleEntry(ctx context.Context, e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindAsked:
		return f.sendQuestion(ctx, e.Seq)
	case runlog.KindAnswered, runlog.KindWithdrawn:
		s, err := runlog.Decode[settlement](e)
		if err != nil {
			return err
		}
		f.forgetLink(s.AskSeq)
		return f.settleRequest(f.sender, s, s.Describe())
	}
	return f.sendEvent(e)
}

// sendEvent tells an event.
func (f *follower) sendEvent(e runlog.Entry) error {
	said, err := f.convertEvent(e)
	if err != nil || said == nil {
		return err
	}
	f.recordProgress()
	return f.sender.send(f.cursor(e.Seq), said)
}

// buildFinalReply is the reply for a run that has ended.
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

// findMissingCapability is what the client lacked, if that is why the run failed.
func (c *call) findMissingCapability(end runlog.Finished) (missing *missingCapability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.Status != runlog.Failed {
		return nil
	}
	for _, l := range c.lacks {
		if strings.Contains(end.Error, l.Error()) {
			missing = missing.Merge(l)
		}
	}
	return missing
}
