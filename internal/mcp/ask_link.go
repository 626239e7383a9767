package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

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
		if err := f.sendAskLink(id, msg.LineSaidBy(open.Question, open.Photon)); err != nil {
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
