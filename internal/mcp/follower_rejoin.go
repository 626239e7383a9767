package mcp

import (
	"context"
	"maps"
	"slices"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/runlog"
)

// rejoinRun reads what the run has done so far without sending it, and asks the
// questions that are open. It returns the call's reply if the run has ended.
func (f *follower) rejoinRun(ctx context.Context) (r reply, done bool) {
	open, r, done := f.readHistory(ctx)
	if done {
		return r, true
	}
	f.sender.SetResumeCursor(f.cursor(f.lastSent))
	for _, seq := range open {
		if err := f.sendQuestion(ctx, seq); err != nil {
			return f.failureReply(err), true
		}
	}
	return f.leaveForChat()
}

// readHistory reads the run's log. It returns the ordinals of the open
// questions, or the reply if the run has ended.
func (f *follower) readHistory(ctx context.Context) (open []uint64, r reply, done bool) {
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID, 0)
	if err != nil {
		return nil, f.internalErrorReply(err), true
	}
	asked := map[uint64]bool{}
	for batch, err := range batches {
		if err != nil {
			return nil, f.internalErrorReply(err), true
		}
		for _, e := range batch {
			f.lastSent = e.Seq
			switch e.Kind {
			case runlog.KindFinished:
				return nil, f.buildFinalReply(ctx, e), true
			case runlog.KindAsked:
				asked[e.Seq] = true
			case runlog.KindAnswered, runlog.KindWithdrawn:
				s, err := runlog.Decode[msg.Settlement](e)
				if err != nil {
					return nil, f.internalErrorReply(err), true
				}
				delete(asked, s.AskSeq)
			default:
				if err := f.skipEvent(e); err != nil {
					return nil, f.internalErrorReply(err), true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(asked)), reply{}, false
}

// resumeOnStream continues a call on another stream, with the entries after the one
// that the client received last. It returns the call's reply.
func (c *call) resumeOnStream(out messageSender, inFlight *requests.InFlight, after uint64) reply {
	out = c.recorded(out)
	c.mu.Lock()
	c.sender = out
	c.mu.Unlock()
	f := c.newFollower(out, inFlight)
	r := f.followAndWait(func(ctx context.Context) (r reply, done bool) {
		if err := f.catchUp(ctx, after); err != nil {
			return f.internalErrorReply(err), true
		}
		f.resumeProgress()
		f.restartWaitClock() // the client was disconnected, not silent
		if r, done := f.repeatHandoff(); done {
			return r, true
		}
		if err := f.resendInvalidlyAnswered(ctx); err != nil {
			return f.failureReply(err), true
		}
		return reply{}, false
	})
	c.server.recordReply(c.runID, c.client, r)
	return r
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
