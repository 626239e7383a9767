package generators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
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

// A Run is one execution of a photon. It turns the body of a loop over its events
// into a [Yield] that any goroutine may call at any time. Most callers only need
// [Photon.Run]. An engine with thousands of waiting runs calls [Run.Stop] instead of
// deriving a context for each.
type Run struct {
	id            string // see SetID
	photon        *Photon
	args          json.RawMessage
	ctx           context.Context
	cancel        context.CancelCauseFunc
	stopAfterFunc func() bool // detaches the run from its parent context; nil if that can't end
	body          func(Event, error) bool
	// returned is true once the generator has returned and the last pair was delivered.
	returned bool

	mu             sync.Mutex
	ended          bool          // yield returns false
	loopLeft       bool          // the body must not be called again
	bodyExit       *loopBodyExit // how the body exited, if not by break or return
	callKeys       uniqueKeys
	waiters        atomic.Pointer[waiterCount] // nil until the generator starts goroutines
	goroutinePanic *PanicError                 // the first panic of a goroutine of Go
	children       sync.WaitGroup

	// openCalls are the calls without a reply. They have a lock of their own because
	// mu is held while the body runs, and the body may settle calls.
	openCallsMu sync.Mutex
	openCalls   []*Call
}

// loopBodyExit records a panic of the loop body, or its call of runtime.Goexit, as by
// t.Fatal. The body may run on any goroutine that yields, but the exit must happen on
// the goroutine that ranges.
type loopBodyExit struct {
	value  any
	goexit bool
}

func (r *Run) yield(e Event) bool {
	switch e := e.(type) {
	case *goEvent:
		return r.startGoroutine(e)
	case *acknowledgedEvent:
		ok := false
		defer func() { e.taken <- ok }() // even if the body panics, because the sender waits
		ok = r.yield(e.Event)
		return ok
	case nil:
		return r.ctx.Err() == nil
	}
	if isNilEvent(e) {
		return r.ctx.Err() == nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := e.(*Call); ok {
		r.bindCall(c)
	}
	if r.ended || r.ctx.Err() != nil {
		return false
	}
	return r.deliver(e, nil)
}

// isNilEvent reports whether e is a typed nil, which yield ignores like a nil event.
func isNilEvent(e Event) bool {
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// deliver calls the loop body. The caller holds r.mu, so that only one goroutine runs
// the body at a time.
func (r *Run) deliver(e Event, err error) (more bool) {
	returned := false
	defer func() {
		if more {
			return
		}
		r.ended, r.loopLeft = true, true
		r.Stop(ErrStopped)
		if returned {
			return
		}
		v := recover()
		r.bodyExit = &loopBodyExit{v, v == nil}
		if v != nil {
			panic(v)
		}
	}()
	more = r.body(e, err)
	returned = true
	return more
}

// bindCall adds a call to the run and makes its key unique.
func (r *Run) bindCall(c *Call) {
	c.run = r
	c.Concurrent = r.Concurrent()
	c.Key = r.callKeys.unique(c.Key)
	r.openCallsMu.Lock()
	r.openCalls = append(r.openCalls, c)
	r.openCallsMu.Unlock()
	if r.ctx.Err() != nil { // Stop may have settled the open calls already
		c.Settle(Reply{Err: stopCause(r.ctx)})
	}
}

// removeCall removes a settled call from the open ones.
func (r *Run) removeCall(c *Call) {
	r.openCallsMu.Lock()
	defer r.openCallsMu.Unlock()
	if i := slices.Index(r.openCalls, c); i >= 0 {
		r.openCalls = slices.Delete(r.openCalls, i, i+1)
	}
}

func (r *Run) startGoroutine(e *goEvent) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx.Err() != nil {
		return false
	}
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

// deliverLast waits for the run's goroutines, because one of them may still panic,
// and then passes the last pair to the loop body unless the loop was left.
func (r *Run) deliverLast(result *Result, err error) {
	r.mu.Lock()
	r.ended = true
	if err == nil && r.ctx.Err() != nil {
		err = stopCause(r.ctx)
	}
	r.mu.Unlock()
	r.stopAndWait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.goroutinePanic != nil {
		err = r.goroutinePanic
	}
	switch {
	case r.loopLeft:
	case err != nil:
		r.deliver(nil, err)
	default:
		r.deliver(result, nil)
	}
}

// stopAndWait cancels the run's context and waits for its goroutines.
func (r *Run) stopAndWait() {
	r.Stop(ErrStopped)
	r.children.Wait()
}

// repanic repeats the exit of the loop body on the ranging goroutine: the body may
// have run on another goroutine, or the generator may have recovered its panic.
func (r *Run) repanic() {
	switch {
	case r.bodyExit == nil:
	case r.bodyExit.goexit:
		runtime.Goexit()
	default:
		panic(r.bodyExit.value)
	}
}

// recoverPanic converts a panic of the generator to an error. It repeats a panic of
// the loop body, which passes through the generator's frames.
func (r *Run) recoverPanic(err *error) {
	v := recover()
	if v == nil {
		return
	}
	r.mu.Lock() // another goroutine may be in the body
	exit := r.bodyExit
	r.mu.Unlock()
	if exit != nil && !exit.goexit {
		panic(exit.value)
	}
	*err = &PanicError{Value: v, Stack: debug.Stack()}
}

// Concurrent reports whether the generator has started goroutines with [Go], so that
// the order of its calls may differ from run to run. Call it from the loop body.
func (r *Run) Concurrent() bool { return r.waiters.Load() != nil }

// Context returns the generator's context. It ends with the run; its cause is the
// reason.
func (r *Run) Context() context.Context { return r.ctx }

// Stop ends the run: it cancels the run's context with the cause and settles every
// open call with it. It doesn't wait for the generator to return. It may be called
// from any goroutine, from the loop body, and more than once; the first cause is
// used.
func (r *Run) Stop(cause error) {
	r.cancel(cause)
	r.openCallsMu.Lock()
	waiting := r.openCalls
	r.openCalls = nil
	r.openCallsMu.Unlock()
	for _, c := range waiting {
		c.Settle(Reply{Err: stopCause(r.ctx)})
	}
}

// publicError replaces a generator's context error by the reason why the run was
// stopped, so that a driver can distinguish a stop from a failure.
func (r *Run) publicError(err error) error {
	if err == nil || r.ctx.Err() == nil {
		return err
	}
	cause := stopCause(r.ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	return err
}
