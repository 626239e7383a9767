// Package requests keeps track of requests in progress, those of a client and those of
// this server.
package requests

import (
	"context"
	"errors"
	"sync"
)

// An InFlight is a request of the client that has no response yet. Its methods may be
// called concurrently.
type InFlight struct {
	id     string // raw
	parent context.Context

	mu          sync.Mutex
	cause       error         // why the request was cancelled; nil if it was not
	cancelFuncs []func(error) // called once, with the cause
	observe     func([]byte)  // see Observe; nil for none
}

// The causes of cancellation.
var (
	// ErrCancelled means that the client cancelled the request.
	ErrCancelled = errors.New("the request was canceled by its client")
	// ErrServed means that the request was served.
	ErrServed = errors.New("the request has been served")
	// ErrMoved means that the request continues on another stream.
	ErrMoved = errors.New("the request continues on another stream")
)

// NewInFlight returns a request that is in no table: one of a client that is served as if
// it had sent one.
func NewInFlight(parent context.Context) *InFlight { return &InFlight{parent: parent} }

// Parent returns the context of the connection that the request came on.
func (r *InFlight) Parent() context.Context { return r.parent }

// NewContext returns a context that ends when the request is cancelled, or its
// connection ends.
func (r *InFlight) NewContext() context.Context {
	ctx, cancel := context.WithCancelCause(r.parent)
	r.OnCancel(cancel)
	return ctx
}

// OnCancel calls stop once the request is cancelled, which it may be already. Every such
// function is called.
func (r *InFlight) OnCancel(stop func(cause error)) {
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

// Observe calls f with the notifications of the client that are about the request.
func (r *InFlight) Observe(f func(raw []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe = f
}

// Tell passes a notification of the client to what observes the request.
func (r *InFlight) Tell(raw []byte) {
	r.mu.Lock()
	observe := r.observe
	r.mu.Unlock()
	if observe != nil {
		observe(raw)
	}
}

// Cancel cancels the request. It may be called more than once; the first cause wins.
func (r *InFlight) Cancel(cause error) {
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

// Cause returns why the request was cancelled, or nil if it was not.
func (r *InFlight) Cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}
