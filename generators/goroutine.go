package generators

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A PanicError is the error of a run whose generator panicked. Its text is for the
// person who started the run; Value and Stack are for the operator's log.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "the tool failed: it panicked" }

// Go runs fn in a goroutine of the run. The goroutine's context ends when the
// generator returns or the run stops, the run doesn't end before the goroutine
// returns, and a panic in it ends the run rather than the process. Goroutines that
// yield calls must be started with Go. It returns false, and starts no goroutine,
// if the run has stopped.
//
// While a goroutine's question is open, Beam assumes that the generator itself waits
// for its goroutines, unless it has asked a question of its own in the meantime. A
// durable run may then be evicted until the answer arrives. Do work that must
// continue while a question is open in a goroutine of Go or in a [Step].
func Go(yield Yield, fn func(ctx context.Context)) bool {
	return yield(&goEvent{fn: fn})
}

// goEvent passes a function of Go through a Yield to its run.
type goEvent struct {
	fn func(context.Context)
	// generatorWaits means that the generator itself waits while fn runs, so that
	// its calls have the same order in every run.
	generatorWaits bool
}

func (*goEvent) event() {}

func (r *Run) startGoroutine(e *goEvent, sentInStep bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx.Err() != nil {
		return false
	}
	inStep := r.isNested(sentInStep)
	var counted *waiterCount
	if !e.generatorWaits {
		counted = r.addGoroutine()
	}
	r.children.Go(func() {
		defer counted.removeGoroutine()
		defer func() {
			if v := recover(); v != nil {
				r.recordPanic(v)
			}
		}()
		if inStep {
			callStepFunction(func() { e.fn(r.ctx) })
			return
		}
		e.fn(r.ctx)
	})
	return true
}

func (r *Run) recordPanic(v any) {
	p := &PanicError{Value: v, Stack: debug.Stack()}
	r.mu.Lock()
	if r.goroutinePanic == nil {
		r.goroutinePanic = p
	}
	r.mu.Unlock()
	r.Stop(fmt.Errorf("%w: %w", ErrStopped, p))
}

// Concurrent reports whether the generator has started goroutines with [Go], so that
// the order of its calls may differ from run to run. Call it from the loop body.
func (r *Run) Concurrent() bool { return r.waiters.Load() != nil }
