package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// An inFlightRequest is a request of the client that has no response yet.
type inFlightRequest struct {
	id            string // raw
	parentContext context.Context

	mu          sync.Mutex
	cause       error         // why the request was cancelled; nil if it was not
	cancelFuncs []func(error) // called once, with the cause
}

// newContext returns a context that ends when the client cancels the request, or its
// session or connection ends.
func (r *inFlightRequest) newContext() context.Context {
	ctx, cancel := context.WithCancelCause(r.parentContext)
	r.onCancel(cancel)
	return ctx
}

// onCancel calls stop once the request is cancelled, which it may be already. Every
// such function is called.
func (r *inFlightRequest) onCancel(stop func(cause error)) {
	r.mu.Lock()
	cause := r.cause
	if cause == nil {
		r.cancelFuncs = append(r.cancelFuncs, stop)
	}
	r.mu.Unlock()
	if cause != nil {
		stop(cause)
	}
}

// cancel cancels the request. It may be called more than once; the first cause wins.
func (r *inFlightRequest) cancel(cause error) {
	r.mu.Lock()
	var stops []func(error)
	if r.cause == nil {
		r.cause, stops, r.cancelFuncs = cause, r.cancelFuncs, nil
	}
	r.mu.Unlock()
	for _, stop := range stops {
		stop(cause)
	}
}

// cancelCause returns why the request was cancelled, or nil if it was not.
func (r *inFlightRequest) cancelCause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// errRequestCancelled is the cause when the client cancelled the request.
var errRequestCancelled = errors.New("the request was cancelled by its client")

// errRequestServed is the cause after the request was served.
var errRequestServed = errors.New("the request has been served")

// registerRequest registers a request as in flight. It refuses an id that is in use,
// and a session that has ended.
func (s *session) registerRequest(ctx context.Context, id json.RawMessage) (*inFlightRequest, *msg.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "%v", errSessionEnded)
	}
	if s.inFlightRequests[string(id)] != nil {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "a request with the id %s is already in progress", id)
	}
	r := &inFlightRequest{id: string(id), parentContext: ctx}
	s.inFlightRequests[r.id] = r
	return r, nil
}

// replaceRequest registers a request that continues on another stream, and ends the
// earlier one.
func (s *session) replaceRequest(ctx context.Context, id json.RawMessage) *inFlightRequest {
	r := &inFlightRequest{id: string(id), parentContext: ctx}
	s.mu.Lock()
	before := s.inFlightRequests[r.id]
	s.inFlightRequests[r.id] = r
	s.mu.Unlock()
	if before != nil {
		before.cancel(errRequestMoved)
	}
	return r
}

// errRequestMoved is the cause when the request continues on another stream.
var errRequestMoved = errors.New("the request continues on another stream")

// finishRequest removes a request that was served.
func (s *session) finishRequest(r *inFlightRequest) {
	s.mu.Lock()
	if s.inFlightRequests[r.id] == r {
		delete(s.inFlightRequests, r.id)
	}
	s.mu.Unlock()
	r.cancel(errRequestServed)
}

// handleCancelled handles notifications/cancelled. An unknown id is not an error: the
// request may just have ended. A call whose stream broke off is no longer in flight,
// but its run goes on and is cancelled here.
func (s *session) handleCancelled(m msg.Incoming) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	f := s.inFlightRequests[string(params.ID)]
	var resumable []*call
	for _, c := range s.resumableCalls {
		if string(c.requestID) == string(params.ID) {
			resumable = append(resumable, c)
		}
	}
	s.mu.Unlock()
	if f != nil {
		f.cancel(errRequestCancelled)
	}
	// The request may be ending at this moment because its stream broke off; then
	// cancelling it does not cancel the call.
	for _, c := range resumable {
		c.cancelCall()
	}
}
