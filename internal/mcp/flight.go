package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A flight is a request of the client that is under way.
type flight struct {
	id     string // raw
	parent context.Context

	mu    sync.Mutex
	cause error       // why it was cancelled
	stop  func(error) // tells whoever serves it
}

// context is the request's context: it ends when the client cancels it, or with
// its session or connection.
func (f *flight) context() context.Context {
	ctx, cancel := context.WithCancelCause(f.parent)
	f.whenCancelled(cancel)
	return ctx
}

// whenCancelled has stop called when the request is cancelled, or at once if it
// was. It takes the place of the one before.
func (f *flight) whenCancelled(stop func(cause error)) {
	f.mu.Lock()
	f.stop = stop
	cause := f.cause
	f.mu.Unlock()
	if cause != nil {
		stop(cause)
	}
}

// cancel ends the request. It may be called many times; the first cause holds.
func (f *flight) cancel(cause error) {
	f.mu.Lock()
	first := f.cause == nil
	if first {
		f.cause = cause
	}
	stop := f.stop
	f.mu.Unlock()
	if first && stop != nil {
		stop(cause)
	}
}

// cancelled tells why the request was cancelled; nil if it was not.
func (f *flight) cancelled() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause
}

// errCancelled: the client said that it does not want the request any more.
var errCancelled = errors.New("the request was cancelled by its client")

// errLanded: the request has been served.
var errLanded = errors.New("the request has been served")

// takeOff notes a request as under way.
func (s *session) takeOff(ctx context.Context, id json.RawMessage) (*flight, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, faultf(mcp.INVALID_REQUEST, "%v", errEnded)
	}
	if s.under[string(id)] != nil {
		return nil, faultf(mcp.INVALID_REQUEST, "a request with the id %s is under way already", id)
	}
	f := &flight{id: string(id), parent: ctx}
	s.under[f.id] = f
	return f, nil
}

// takeOver notes a request as under way on another stream; the one before ends.
func (s *session) takeOver(ctx context.Context, id json.RawMessage) *flight {
	f := &flight{id: string(id), parent: ctx}
	s.mu.Lock()
	before := s.under[f.id]
	s.under[f.id] = f
	s.mu.Unlock()
	if before != nil {
		before.cancel(errTaken)
	}
	return f
}

// errTaken: the request goes on on another stream.
var errTaken = errors.New("the request goes on on another stream")

// land forgets a request that has been served.
func (s *session) land(f *flight) {
	s.mu.Lock()
	if s.under[f.id] == f {
		delete(s.under, f.id)
	}
	s.mu.Unlock()
	f.cancel(errLanded)
}

// cancelled acts on notifications/cancelled. An unknown id is no fault: the
// request may just have ended. A call whose stream broke off has no flight any
// more, but its run goes on.
func (s *session) cancelled(m message) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	f := s.under[string(params.ID)]
	var kept []*call
	for _, c := range s.calls {
		if string(c.id) == string(params.ID) {
			kept = append(kept, c)
		}
	}
	s.mu.Unlock()
	if f != nil {
		f.cancel(errCancelled)
	}
	// The flight, too, may be ending because its stream breaks off at this very
	// moment, and then it stops nothing.
	for _, c := range kept {
		c.giveUp()
	}
}
