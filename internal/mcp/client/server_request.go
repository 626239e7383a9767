package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// A ServerRequest is what a server asks of its client: elicitation/create,
// sampling/createMessage or roots/list. It gets one reply, by Reply or Refuse; from the
// session, if all calls end that it may belong to; none if the server takes it back.
type ServerRequest struct {
	Method string
	Params json.RawMessage // an object
	// Key is the server's name of the question, if it is part of a result that requires
	// input (2026-07-28). Then Refuse ends the call.
	Key string

	session  *Session        // nil for part of a result
	received json.RawMessage // the message, if it is one
	ctx      context.Context
	cancel   context.CancelCauseFunc
	once     sync.Once
	respond  func(result json.RawMessage, refused *message.Error)

	mu       sync.Mutex // may be locked before a call's mu, never after it
	call     *Call      // whose events it is among; nil for none
	calls    []*Call    // in progress, that it may belong to
	passedOn []*Call    // that it was among the events of before
	hasEnded bool
}

// maxServerRequests is the number of open requests of one server.
const maxServerRequests = 1000

// Context ends when the request needs no reply any more. Its cause says why, for people.
func (r *ServerRequest) Context() context.Context { return r.ctx }

// Reply sends the result.
func (r *ServerRequest) Reply(result json.RawMessage) { r.settle(result, nil) }

// Refuse sends an error.
func (r *ServerRequest) Refuse(e *message.Error) { r.settle(nil, e) }

func (r *ServerRequest) settle(result json.RawMessage, refused *message.Error) {
	r.end(errReplied, func() { r.respond(result, refused) })
}

// withdraw ends the request without a reply.
func (r *ServerRequest) withdraw(cause error) { r.end(cause, func() {}) }

// end ends the request once, with a reply.
func (r *ServerRequest) end(cause error, reply func()) {
	r.once.Do(func() {
		r.mu.Lock()
		for _, c := range r.calls {
			c.removeRequest(r)
		}
		r.call.addAsking(-1)
		r.hasEnded = true
		r.mu.Unlock()
		reply()
		r.cancel(cause)
	})
}

// currentCall returns the call whose events the request is among, or nil.
func (r *ServerRequest) currentCall() *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.call
}

// IsCertain reports whether the request belongs to the call whose event it is: it can't be
// another's.
func (r *ServerRequest) IsCertain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls) == 1 && r.calls[0] == r.call
}

// offer makes the request an event of one of the calls that it may belong to, which are in
// progress. If there are several, the session's owner chooses. It reports false if none takes
// it.
func (r *ServerRequest) offer(calls ...*Call) bool {
	r.mu.Lock()
	for _, c := range calls {
		if c.addRequest(r) {
			r.calls = append(r.calls, c)
		}
	}
	others := slices.Clone(r.calls)
	r.mu.Unlock()
	taken := r.move(nil)
	if taken == nil {
		return false
	}
	for _, c := range others {
		if c != taken {
			c.events.push(Event{Elsewhere: r})
		}
	}
	return true
}

// PassOn says that the call whose event the request is can't reply. The request becomes an
// event of another one that it may belong to. If there is none, it is refused.
func (r *ServerRequest) PassOn(otherwise *message.Error) {
	if r.move(r.currentCall()) == nil {
		r.Refuse(otherwise)
	}
}

// move makes the request an event of another call than from, and returns it; nil if there
// is none, or the request has ended.
func (r *ServerRequest) move(from *Call) *Call {
	for {
		r.mu.Lock()
		if r.hasEnded {
			r.mu.Unlock()
			return nil
		}
		from.addAsking(-1)
		r.passedOn = append(r.passedOn, from)
		r.call = r.choose()
		r.call.addAsking(1)
		to := r.call
		r.mu.Unlock()
		if r.received != nil {
			to.observe(recording.In, r.received)
		}
		if to == nil || to.events.push(Event{Request: r}) {
			return to
		}
		from = to // it has just ended
	}
}

// choose chooses the next call; nil for none. The caller holds mu.
func (r *ServerRequest) choose() *Call {
	var left []*Call
	for _, c := range r.calls {
		if !slices.Contains(r.passedOn, c) {
			left = append(left, c)
		}
	}
	switch {
	case len(left) == 0:
		return nil
	case len(left) == 1:
		return left[0]
	case r.session == nil || r.session.options.Attribute == nil:
		return nil
	}
	return r.session.options.Attribute(r, left)
}

// leave says that a call is over that the request may have belonged to. The last of them
// ends the request, whichever call's events it is among.
func (r *ServerRequest) leave(c *Call) {
	r.mu.Lock()
	r.calls = slices.DeleteFunc(r.calls, func(other *Call) bool { return other == c })
	left := len(r.calls)
	r.mu.Unlock()
	if left > 0 {
		return
	}
	r.end(errCallOver, func() {
		if r.session != nil {
			r.respond(nil, message.Errorf(requestRefused, "the call that the request belongs to has ended"))
		}
	})
}

var errReplied = fmt.Errorf("it was replied to: %w", context.Canceled)

// withdrawnError is the cause of a request that its server took back.
func withdrawnError(reason string) error {
	if reason == "" {
		return errors.New("the server withdrew the question")
	}
	return fmt.Errorf("the server withdrew the question: %s", humanize.Truncate(reason, 200))
}

// handleRequest handles a request of the server.
func (s *Session) handleRequest(m message.Incoming, origin *pendingRequest) {
	switch m.Method {
	case string(mcp.MethodPing):
		s.respond(m.ID, json.RawMessage("{}"), nil)
		return
	case string(mcp.MethodElicitationCreate), string(mcp.MethodSamplingCreateMessage), string(mcp.MethodListRoots):
	default:
		s.respond(m.ID, nil, message.Errorf(mcp.METHOD_NOT_FOUND, "the client has no method %q", humanize.Truncate(m.Method, 100)))
		return
	}
	if s.IsModern() {
		s.fault("it sent the request %s, which %s doesn't have", m.Method, modernVersion)
		s.respond(m.ID, nil, message.Errorf(mcp.METHOD_NOT_FOUND, "in %s a server sends no requests: it returns a result that requires input", modernVersion))
		return
	}
	r, refused := s.openRequest(m)
	if refused != nil {
		s.fault("it sent the request %s, which was refused: %s", m.Method, refused.Message)
		s.respond(m.ID, nil, refused)
		return
	}
	r.received = m.Raw
	if !r.offer(s.callsOfRequest(r, origin)...) {
		r.Refuse(message.Errorf(requestRefused, "no call is in progress that the request could belong to"))
	}
}

// requestRefused is the code of the error for a request that can't be answered now.
const requestRefused = -32000

// openRequest adds a request to those that are open.
func (s *Session) openRequest(m message.Incoming) (*ServerRequest, *message.Error) {
	r := &ServerRequest{Method: m.Method, Params: objectOrEmpty(m.Params), session: s}
	r.ctx, r.cancel = context.WithCancelCause(s.ctx)
	id := m.ID
	r.respond = func(result json.RawMessage, refused *message.Error) {
		s.mu.Lock()
		if s.requests[string(id)] == r {
			delete(s.requests, string(id))
		}
		s.mu.Unlock()
		s.respondFor(r.currentCall(), id, result, refused)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return nil, message.Errorf(requestRefused, "the session has ended")
	case s.requests[string(id)] != nil:
		return nil, message.Errorf(mcp.INVALID_REQUEST, "another request with the id %s is open", humanize.Truncate(string(id), 50))
	case len(s.requests) >= maxServerRequests:
		return nil, message.Errorf(requestRefused, "%d requests are open; the client takes no more", maxServerRequests)
	}
	s.requests[string(id)] = r
	return r, nil
}

// callsOfRequest returns the calls that a request of the server may belong to: that of the
// task which it is related to, that on whose stream it came, or all in progress.
func (s *Session) callsOfRequest(r *ServerRequest, origin *pendingRequest) []*Call {
	if c := s.callOfTask(r.Params); c != nil {
		return []*Call{c}
	}
	if origin != nil && origin.call != nil {
		return []*Call{origin.call}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.calls))
}

// respond sends a response to a request of the server that belongs to no call.
func (s *Session) respond(id, result json.RawMessage, refused *message.Error) {
	s.respondFor(nil, id, result, refused)
}

// respondFor sends a response to a request of the server that belongs to a call; nil for
// none.
func (s *Session) respondFor(c *Call, id, result json.RawMessage, refused *message.Error) {
	if s.ctx.Err() != nil {
		return
	}
	response := message.Outgoing{ID: id, Error: refused}
	if refused == nil {
		response.Result = result
	}
	raw := message.Encode(response)
	c.observe(recording.Out, raw)
	s.transport.send(raw, nil)
}

// withdrawRequests withdraws all open requests of the server.
func (s *Session) withdrawRequests(cause error) {
	s.mu.Lock()
	requests := s.requests
	s.requests = make(map[string]*ServerRequest)
	s.mu.Unlock()
	for _, r := range requests {
		r.withdraw(cause)
	}
}
