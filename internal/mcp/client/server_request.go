package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// A ServerRequest is what a server asks of its client: elicitation/create,
// sampling/createMessage or roots/list. It is answered once, by Reply or Refuse.
type ServerRequest struct {
	Method string
	Params json.RawMessage // an object
	// Key is the server's name of the question, if it is part of a result that requires
	// input (2026-07-28). Then Refuse ends the call.
	Key string

	ctx     context.Context
	cancel  context.CancelCauseFunc
	call    *Call
	once    sync.Once
	respond func(result json.RawMessage, refused *message.Error)
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
	r.once.Do(func() {
		if r.call != nil {
			r.call.removeRequest(r)
		}
		r.respond(result, refused)
		r.cancel(errReplied)
	})
}

// withdraw ends the request without a reply.
func (r *ServerRequest) withdraw(cause error) {
	r.once.Do(func() {
		if r.call != nil {
			r.call.removeRequest(r)
		}
		r.cancel(cause)
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
	c := s.callOfRequest(r, origin)
	c.observe(recording.In, m.Raw)
	if c == nil || !c.addRequest(r) {
		r.Refuse(message.Errorf(requestRefused, "no call is in progress that the request could belong to"))
		return
	}
	c.events.push(Event{Request: r})
}

// requestRefused is the code of the error for a request that can't be answered now.
const requestRefused = -32000

// openRequest adds a request to those that are open.
func (s *Session) openRequest(m message.Incoming) (*ServerRequest, *message.Error) {
	r := &ServerRequest{Method: m.Method, Params: objectOrEmpty(m.Params)}
	r.ctx, r.cancel = context.WithCancelCause(s.ctx)
	id := m.ID
	r.respond = func(result json.RawMessage, refused *message.Error) {
		s.mu.Lock()
		if s.requests[string(id)] == r {
			delete(s.requests, string(id))
		}
		s.mu.Unlock()
		s.respondFor(r.call, id, result, refused)
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

// callOfRequest returns the call that a request of the server belongs to: that of the
// task which it is related to, that on whose stream it came, the only one in progress,
// or that which the session's owner chooses; nil if there is none.
func (s *Session) callOfRequest(r *ServerRequest, origin *pendingRequest) *Call {
	if c := s.callOfTask(r.Params); c != nil {
		return c
	}
	if origin != nil && origin.call != nil {
		return origin.call
	}
	s.mu.Lock()
	calls := make([]*Call, 0, len(s.calls))
	for c := range s.calls {
		calls = append(calls, c)
	}
	s.mu.Unlock()
	switch {
	case len(calls) == 0:
		return nil
	case len(calls) == 1:
		return calls[0]
	case s.options.Attribute == nil:
		return nil
	}
	return s.options.Attribute(r, calls)
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
