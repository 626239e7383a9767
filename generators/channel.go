package generators

import (
	"context"
	"errors"
	"runtime/debug"
)

// ChanFunc is a generator that sends its events to a channel instead of
// calling a [Yield]. The channel is drained until the function returns; it
// must not close it.
type ChanFunc[In, Out any] func(ctx context.Context, in In, events chan<- Event) (Out, error)

// FromChan makes a photon of a generator that sends to a channel. It behaves
// as one made by [New]. To ask a question or make a step, turn the channel
// into a Yield with [Sender].
func FromChan[In, Out any](name string, fn ChanFunc[In, Out], opts *Options) *Photon {
	if fn == nil {
		return New[In, Out](name, nil, opts) // which Registry.Add refuses
	}
	return New(name, func(ctx context.Context, in In, yield Yield) (out Out, err error) {
		events := make(chan Event)
		returned := make(chan struct{})
		if !yield(&goEvent{generatorWaits: true, fn: func(ctx context.Context) {
			defer close(returned)
			defer func() {
				if v := recover(); v != nil { // what it sent before is still to be told
					err = &PanicError{Value: v, Stack: debug.Stack()}
				}
			}()
			err = errGoexit
			out, err = fn(ctx, in, events)
		}}) {
			return out, stopCause(ctx)
		}
		for taken := events; ; {
			select {
			case e, open := <-taken:
				if !open { // against the rules, but no reason to spin
					taken = nil
				}
				yield(e)
			case <-returned:
				return out, err
			}
		}
	}, opts)
}

// errGoexit is how a run ends whose function called runtime.Goexit.
var errGoexit = errors.New("the tool broke down: its goroutine ended")

// Sender is a Yield over the channel of a [ChanFunc], for the helpers that
// want one: Step, Go and the asks. It returns when the event has been taken.
func Sender(ctx context.Context, events chan<- Event) Yield {
	return func(e Event) bool {
		h := &acknowledgedEvent{Event: e, taken: make(chan bool, 1)}
		select {
		case events <- h:
			return <-h.taken
		case <-ctx.Done():
			return false
		}
	}
}

// acknowledgedEvent is an event whose sender waits until it has been taken.
type acknowledgedEvent struct {
	Event
	taken chan bool
}
