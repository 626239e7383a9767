package mcp

import (
	"context"
	"errors"
	"time"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/runlog"
)

// A directCall handles the call of a client that this server can send requests to, up
// to 2025-11-25: each question is a request, and the call ends with its run.
type directCall struct{ *follower }

var _ callHandler = directCall{}

// handleEntry sends what the client must learn from one entry.
func (c directCall) handleEntry(ctx context.Context, e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindAsked:
		return c.sendQuestion(ctx, e.Seq)
	case runlog.KindAnswered, runlog.KindWithdrawn:
		s, err := runlog.Decode[msg.Settlement](e)
		if err != nil {
			return err
		}
		c.forgetLink(s.AskSeq)
		return c.settleRequest(c.sender, s, s.Describe())
	}
	if e.Kind == runlog.KindSampling {
		s, err := runlog.Decode[runlog.Sampling](e)
		if err != nil {
			return err
		}
		if s.Approved != nil {
			if err := c.sendNewVersion(ctx, s.AskSeq); err != nil {
				return err
			}
		}
	}
	return c.sendEvent(e)
}

func (c directCall) replyAfterBatch() (reply, bool) { return c.leaveForChat() }

func (directCall) hasQuestions() bool { return false }

func (directCall) waitDeadline() time.Time { return time.Time{} }

func (directCall) handleExpiredWait() (reply, bool) { return reply{}, false }

// handleRequestEnd implements [callHandler].
func (c directCall) handleRequestEnd(cause error) reply {
	switch {
	case errors.Is(cause, requests.ErrCancelled):
		c.cancelCall()
	case errors.Is(cause, errClientLeft), errors.Is(cause, msg.ErrClientGone) && c.session.proxied:
		c.abandonRun()
	}
	return reply{}
}
