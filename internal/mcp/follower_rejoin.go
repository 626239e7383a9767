package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// rejoinRun reads what the run has done so far without sending it, and asks the
// questions that are open. It returns the call's reply if the run has ended.
func (f *follower) rejoinRun(ctx context.Context) (r reply, done bool) {
	open, r, done := f.readHistory(ctx)
	if done {
		return r, true
	}
	f.sender.setResumeCursor(f.cursor(f.lastSent))
	for _, seq := range open {
		if err := f.sendQuestion(ctx, seq); err != nil {
			return f.failureReply(err), true
		}
	}
	return reply{}, false
}

// readHistory reads the run's log. It returns the sequence numbers of the open
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

// failureReply returns the reply of a call that can't go on. It is empty if the client
// is gone, since the client may resume the call.
func (f *follower) failureReply(err error) reply {
	if errors.Is(err, errClientGone) {
		return f.handleRequestEnd(errClientGone)
	}
	return f.internalErrorReply(err)
}
