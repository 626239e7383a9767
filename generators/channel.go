package generators

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/photon-beam/beam/internal/call"
)

// ChanFunc is a generator that sends its events to a channel instead of calling a
// [Yield]. The events are received until the function returns. It must not close the
// channel.
type ChanFunc[In, Out any] func(ctx context.Context, in In, events chan<- Event) (Out, error)

// FromChan returns a photon that runs a generator with a channel. The photon behaves
// like one returned by [New]. To ask a question or run a step, convert the channel to
// a Yield with [Sender].
func FromChan[In, Out any](name string, fn ChanFunc[In, Out], opts *Options) *Photon {
	if fn == nil {
		return New[In, Out](name, nil, opts) // which Registry.Add rejects
	}
	return New(name, func(ctx context.Context, in In, yield Yield) (out Out, err error) {
		events := make(chan Event)
		returned := make(chan struct{})
		if !yield(&goEvent{generatorWaits: true, fn: func(ctx context.Context, _ Yield) {
			defer close(returned)
			defer func() {
				if v := recover(); v != nil { // the events that it sent before are still delivered
					err = &call.PanicError{Value: v, Stack: debug.Stack()}
				}
			}()
			err = errGoexit
			out, err = fn(ctx, in, events)
		}}) {
			return out, stopCause(ctx)
		}
		for received := events; ; {
			select {
			case e, open := <-received:
				if !open { // the generator broke the rule; don't spin
					received = nil
				}
				yield(e)
			case <-returned:
				return out, err
			}
		}
	}, opts)
}

// errGoexit is the error of a run whose generator called runtime.Goexit.
var errGoexit = errors.New("the tool failed: its goroutine ended")

// Sender returns a Yield that sends to the channel of a [ChanFunc], for functions that
// need one, such as [Step], [Go] and those of package ask. The Yield returns once the
// event has been handled.
func Sender(ctx context.Context, events chan<- Event) Yield {
	return func(e Event) bool {
		h := &acknowledgedEvent{Event: e, taken: make(chan bool, 1)}
		switch e.(type) {
		case *callEvent, *goEvent:
			h.insideStep = insideStep()
		}
		select {
		case events <- h:
			return <-h.taken
		case <-ctx.Done():
			return false
		}
	}
}

// acknowledgedEvent is an event whose sender waits until it has been handled.
type acknowledgedEvent struct {
	Event
	insideStep bool // the sender runs the function of a step
	taken      chan bool
}
