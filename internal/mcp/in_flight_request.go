package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// An inFlightRequest is a request of the client that is under way.
type inFlightRequest struct {
	id            string // raw
	parentContext context.Context

	mu       sync.Mutex
	cause    error       // why it was cancelled
	onCancel func(error) // tells whoever serves it
}

// newContext is the request's context: it ends when the client cancels it, or with
// its session or connection.
func (r *inFlightRequest) newContext() context.Context {
	ctx, cancel := context.WithCancelCause(r.parentContext)
	r.setOnCancel(cancel)
	return ctx
}

// setOnCancel has stop called when the request is cancelled, or at once if it
// was. It takes the place of the one before.
func (r *inFlightRequest) setOnCancel(stop func(cause error)) {
	r.mu.Lock()
	r.onCancel = stop
	cause := r.cause
	r.mu.Unlock()
	if cause != nil {
		stop(cause)
	}
}

// cancel ends the request. It may be called many times; the first cause holds.
func (r *inFlightRequest) cancel(cause error) {
	r.mu.Lock()
	first := r.cause == nil
	if first {
		r.cause = cause
	}
	stop := r.onCancel
	r.mu.Unlock()
	if first && stop != nil {
		stop(cause)
	}
}

// cancelCause tells why the request was cancelled; nil if it was not.
func (r *inFlightRequest) cancelCause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// errRequestCancelled: the client said that it does not want the request any more.
var errRequestCancelled = errors.New("the request was cancelled by its client")

// errRequestServed: the request has been served.
var errRequestServed = errors.New("the request has been served")

// registerRequest notes a request as under way.
func (s *session) registerRequest(ctx context.Context, id json.RawMessage) (*inFlightRequest, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "%v", errSessionEnded)
	}
	if s.inFlightRequests[string(id)] != nil {
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "a request with the id %s is under way already", id)
	}
	r := &inFlightRequest{id: string(id), parentContext: ctx}
	s.inFlightRequests[r.id] = r
	return r, nil
}

// replaceRequest notes a request as under way on another stream; the one before ends.
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

// errRequestMoved: the request goes on on another stream.
var errRequestMoved = errors.New("the request goes on on another stream")

// finishRequest forgets a request that has been served.
func (s *session) finishRequest(r *inFlightRequest) {
	s.mu.Lock()
	if s.inFlightRequests[r.id] == r {
		delete(s.inFlightRequests, r.id)
	}
	s.mu.Unlock()
	r.cancel(errRequestServed)
}

// handleCancelled acts on notifications/cancelled. An unknown id is no fault: the
// request may just have ended. A call whose stream broke off has no flight any
// more, but its run goes on.
func (s *session) handleCancelled(m message) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	f := s.inFlightRequests[string(params.ID)]
	var kept []*call
	for _, c := range s.resumableCalls {
		if string(c.requestID) == string(params.ID) {
			kept = append(kept, c)
		}
	}
	s.mu.Unlock()
	if f != nil {
		f.cancel(errRequestCancelled)
	}
	// The flight, too, may be ending because its stream breaks off at this very
	// moment, and then it stops nothing.
	for _, c := range kept {
		c.cancelCall()
	}
}
