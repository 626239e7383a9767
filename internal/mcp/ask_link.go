package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// AskPolicy determines what happens to a question that the client can't be asked or
// does not answer.
type AskPolicy struct {
	// Link sends the client the address of the question's page, where somebody may
	// answer it, and the call waits. Without Link, a question that the client can't be
	// asked is withdrawn.
	Link bool
	// Handoff is how long a call then waits before it is handed off: it ends with a
	// result that holds the address and a handle, with which [ResumeTool] resumes the
	// run. 0 means that it waits forever. Handoff has no effect without Link.
	Handoff time.Duration
	// KeepAlive is the interval at which a waiting call with a progress token sends
	// progress, for clients that then restart their timeout; 0 sends none.
	KeepAlive time.Duration
}

// allowsHandoff reports whether calls may end before their runs do.
func (a AskPolicy) allowsHandoff() bool { return a.Link && a.Handoff > 0 }

// canHandOff reports whether the call may end before its run does. A task can't: its
// result is its run's.
func (c *call) canHandOff() bool { return c.server.askPolicy.allowsHandoff() && !c.isTask }

// linkDelay is how long a client may leave a question unanswered before it is sent the
// address of the question's page.
func (a AskPolicy) linkDelay() time.Duration {
	const most = 20 * time.Second
	if a.Handoff > 0 {
		return min(a.Handoff/2, most)
	}
	return most
}

// leaveQuestionOpen leaves a question open that the client can't be asked, and sends
// the client the address of its page. Without [AskPolicy.Link] it withdraws the
// question.
func (f *follower) leaveQuestionOpen(ctx context.Context, open engine.OpenAsk, seq uint64, missing *msg.MissingCapability) error {
	if !f.server.askPolicy.Link {
		return f.withdrawUnsupported(ctx, open.ID, missing, nil)
	}
	if _, err := f.askPageURL(open.ID); err != nil {
		return f.withdrawUnsupported(ctx, open.ID, missing, err)
	}
	f.mu.Lock()
	if f.linkedAsks == nil {
		f.linkedAsks = map[uint64]struct{}{}
	}
	f.linkedAsks[seq] = struct{}{}
	f.mu.Unlock()
	return f.sendAskLink(open.ID, open.Question.Message)
}

// forgetLink forgets a question that was settled.
func (c *call) forgetLink(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.linkedAsks, seq)
}

// sendAskLinks sends a client that does not answer the addresses of its questions. It
// skips those whose page the client was asked to open.
func (f *follower) sendAskLinks(ctx context.Context) error {
	f.mu.Lock()
	f.linksSent = true
	var seqs []uint64
	for _, p := range f.pending {
		if !p.acceptIsConsent {
			seqs = append(seqs, p.askSeq)
		}
	}
	f.mu.Unlock()
	slices.Sort(seqs)
	for _, seq := range seqs {
		id := runlog.AskID(f.runID, seq)
		open, err := f.server.engine.OpenAsk(ctx, f.client.caller, id)
		if err != nil {
			continue // it was just settled
		}
		if err := f.sendAskLink(id, open.Question.Message); err != nil {
			return err
		}
	}
	return nil
}

// sendAskLink sends the address of a question's page, if there is one.
func (f *follower) sendAskLink(askID, message string) error {
	address, err := f.askPageURL(askID)
	if err != nil {
		f.server.logger.Error("sending the link to a question", "ask", askID, "err", err)
		return nil
	}
	text := fmt.Sprintf("Answer at %s: %s", address, message)
	return f.sendUnrecorded(f.buildStatusNotification(text), f.translator().LogMessage(generators.Notice, text, "log"))
}
