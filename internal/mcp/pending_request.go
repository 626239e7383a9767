package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A pendingRequest is a question that the client was asked with a request of this
// server (2025-06-18 and 2025-11-25). It is small, because thousands may wait. The
// call's mu guards it.
type pendingRequest struct {
	call            *call
	askSeq          uint64
	acceptIsConsent bool                     // see [msg.Request]
	invalidAnswers  uint32                   // number of answers that were not valid
	changes         uint32                   // how often the request to a model was changed meanwhile
	version         uint64                   // of the request to a model that was sent last; see versionOf
	lastInvalid     *generators.InvalidError // error of the last such answer; nil if there was none
}

// pendingRequests are the open requests of a call, in the order in which they were
// sent. There is rarely more than one.
type pendingRequests []*pendingRequest

// find returns the request for the question with the ordinal seq, or nil.
func (ps pendingRequests) find(seq uint64) *pendingRequest {
	if i := ps.indexOf(seq); i >= 0 {
		return ps[i]
	}
	return nil
}

func (ps pendingRequests) indexOf(seq uint64) int {
	return slices.IndexFunc(ps, func(p *pendingRequest) bool { return p.askSeq == seq })
}

// remove removes and returns the request for the question with the ordinal seq,
// or nil.
func (ps *pendingRequests) remove(seq uint64) *pendingRequest {
	i := ps.indexOf(seq)
	if i < 0 {
		return nil
	}
	p := (*ps)[i]
	*ps = slices.Delete(*ps, i, i+1)
	return p
}

// maxAttempts is how many invalid answers a client may send to one question.
const maxAttempts = 3

// send sends the question's request, unless it was settled meanwhile.
func (p *pendingRequest) send(out messageSender, r msg.Request) error {
	c := p.call
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.mu.Lock()
	id, open := p.requestID(), !c.askingStopped && c.pending.find(p.askSeq) == p
	if open {
		p.version = versionOf(r)
	}
	c.mu.Unlock()
	if !open {
		return nil
	}
	return c.session.sendRequest(out, c.cursor(p.askSeq), id, r.Method, c.withRelatedTask(r.Params), p)
}

// resend sends the question's request again, with the errors of the last answer.
func (p *pendingRequest) resend(out messageSender, asked *runlog.Asked) error {
	request, missing, err := p.call.buildClientRequest(asked, runlog.AskID(p.call.runID, p.askSeq))
	if err != nil || missing != nil {
		return err
	}
	p.call.mu.Lock()
	if p.lastInvalid != nil {
		request = request.WithErrors(p.lastInvalid.Fields)
	}
	p.call.mu.Unlock()
	return p.send(out, request)
}

// requestID returns the id of the current request. Each time a question is asked again,
// the request has another id.
func (p *pendingRequest) requestID() string {
	id := p.call.askRequestID(p.askSeq)
	if n := p.invalidAnswers + p.changes; n > 0 {
		id = fmt.Sprintf("%s#%d", id, n+1)
	}
	return id
}

// versionOf returns what distinguishes the versions of a request to a model, 0 for another.
func versionOf(r msg.Request) uint64 {
	if r.Method != string(mcp.MethodSamplingCreateMessage) {
		return 0
	}
	raw, err := json.Marshal(r.Params)
	if err != nil {
		return 0 // then it can't be sent
	}
	sum := sha256.Sum256(raw)
	return binary.LittleEndian.Uint64(sum[:])
}

// sendNewVersion cancels the request for a reply of a model and sends the version that a person
// has just approved, unless that is the one that was sent last, for a client that may still be
// asking its user about the one before.
func (f *follower) sendNewVersion(ctx context.Context, seq uint64) error {
	f.mu.Lock()
	p := f.pending.find(seq)
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	open, err := f.server.engine.OpenAsk(ctx, f.client.caller, runlog.AskID(f.runID, seq))
	if errors.Is(err, engine.ErrSettled) || errors.Is(err, engine.ErrAskNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	request, missing, err := f.buildClientRequest(&open.Asked, open.ID)
	if err != nil {
		return err
	}
	isNew, err := f.cancelOtherVersion(p, versionOf(request))
	if !isNew || err != nil || missing != nil {
		return err
	}
	return p.send(f.sender, request)
}

// cancelOtherVersion cancels a request for a reply of a model, unless the version is the one that
// was sent, and reports whether it isn't.
func (f *follower) cancelOtherVersion(p *pendingRequest, version uint64) (isNew bool, err error) {
	f.sendMu.Lock()
	defer f.sendMu.Unlock()
	f.mu.Lock()
	id := p.requestID()
	if isNew = p.version != version; isNew {
		p.changes++
	}
	f.mu.Unlock()
	if isNew && f.session.requests.Forget(id) {
		err = f.sender.Send("", msg.EncodeCancelled(id, "a person has changed and approved the request"))
	}
	return isNew, err
}

// settleRequest removes the request of a question that was settled. If the client still
// shows the question, it receives a cancellation with the reason; if it opened Beam's
// page, a notification that the elicitation is complete.
func (c *call) settleRequest(out messageSender, s msg.Settlement, reason string) error {
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
	open := c.session.requests.Forget(id)
	var err error
	if p.acceptIsConsent && s.IsAccepted() {
		err = out.Send("", msg.EncodeNotification("notifications/elicitation/complete", map[string]any{"elicitationId": runlog.AskID(c.runID, s.AskSeq)}))
	}
	if open && err == nil {
		err = out.Send("", msg.EncodeNotification("notifications/cancelled", map[string]any{"requestId": id, "reason": reason}))
	}
	return err
}

// askRequestID returns the id of the request that asks a question. No id is used twice
// in a session.
func (c *call) askRequestID(seq uint64) string { return runlog.AskID(c.runID, seq) + c.numberSuffix() }
