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

// A PanicError is how a run ends whose generator panicked. Its text is fit for
// the person who started the run; Value and Stack are for the log.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "the tool broke down: it panicked" }

// Go runs fn in a goroutine that belongs to the run: its context ends when the
// generator returns or the run is stopped, the run's last pair waits for it,
// and a panic in it ends the run and not the process. Goroutines that yield
// calls must be started by it. It returns false, and starts nothing, if the
// run has stopped.
//
// While a goroutine's question is open, the generator itself counts as waiting
// for its goroutines, unless it has asked something beside them: a durable run
// may be let go, and only the answer brings it back. So what works on beside a
// question is a goroutine of Go or a [Step].
func Go(yield Yield, fn func(ctx context.Context)) bool {
	return yield(&goEvent{fn: fn})
}

// goEvent is how Go reaches the session behind a yield.
type goEvent struct {
	fn func(context.Context)
	// generatorWaits: the generator itself waits while fn runs, so that the order of its
	// calls is the same in every run.
	generatorWaits bool
}

func (*goEvent) event() {}

// A Run is one execution of a photon: it turns the loop body of a range over
// its events into a yield that any goroutine may call at any time. Most callers
// need no more of it than [Photon.Run]; an engine that keeps thousands of runs
// waiting stops each by its Run, and spares them a context of their own.
type Run struct {
	id            string // see Name
	photon        *Photon
	args          json.RawMessage
	ctx           context.Context
	cancel        context.CancelCauseFunc
	stopAfterFunc func() bool // from the context that it was prepared under; nil if that can't end
	body          func(Event, error) bool
	// returned: the generator has, and the last pair was handed over.
	returned bool

	mu             sync.Mutex
	ended          bool          // yield is false from now on
	loopLeft       bool          // the loop was left: the body must not be called again
	bodyExit       *loopBodyExit // how it was left, if not by break or return
	callKeys       uniqueKeys
	waiters        atomic.Pointer[waiterCount] // nil until the generator starts goroutines
	goroutinePanic *PanicError                 // of a goroutine started by Go
	children       sync.WaitGroup

	// waiting are the calls without a reply. They have a lock of their own:
	// mu is held while the body runs, and the body may settle calls.
	openCallsMu sync.Mutex
	openCalls   []*Call
}

// loopBodyExit is a panic of the loop body, or else its runtime.Goexit, as in
// t.Fatal. The body may run on any goroutine that yields, but it belongs to
// the one that ranges.
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
		defer func() { e.taken <- ok }() // even if the body panics: its sender waits
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

// isNilEvent tells a typed nil, which says as much as a nil event.
func isNilEvent(e Event) bool {
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// deliver calls the loop body, of which there is one at a time: r.mu is held.
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

// bindCall ties a call to this run and makes its key unique.
func (r *Run) bindCall(c *Call) {
	c.run = r
	c.Concurrent = r.Concurrent()
	c.Key = r.callKeys.unique(c.Key)
	r.openCallsMu.Lock()
	r.openCalls = append(r.openCalls, c)
	r.openCallsMu.Unlock()
	if r.ctx.Err() != nil { // Stop may have been here already
		c.Settle(Reply{Err: stopCause(r.ctx)})
	}
}

// removeCall forgets a call that has its reply.
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
	var beside *waiterCount // that it is one of
	if !e.generatorWaits {
		beside = r.addGoroutine()
	}
	r.children.Go(func() {
		defer beside.removeGoroutine()
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

// deliverLast waits for the run's goroutines, since one of them may yet panic, and
// hands the last pair to the loop body, unless that was left already.
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

// stopAndWait ends the run's context and waits for its goroutines.
func (r *Run) stopAndWait() {
	r.Stop(ErrStopped)
	r.children.Wait()
}

// repanic ends the goroutine that ranges as its loop body did on another one,
// or in spite of a generator that recovered.
func (r *Run) repanic() {
	switch {
	case r.bodyExit == nil:
	case r.bodyExit.goexit:
		runtime.Goexit()
	default:
		panic(r.bodyExit.value)
	}
}

// recoverPanic turns a panic of the generator into an error. A panic of the loop
// body, which passes through the generator's frames, goes on to its owner.
func (r *Run) recoverPanic(err *error) {
	v := recover()
	if v == nil {
		return
	}
	r.mu.Lock() // another goroutine may be in the body; ours has left it
	t := r.bodyExit
	r.mu.Unlock()
	if t != nil && !t.goexit {
		panic(t.value)
	}
	*err = &PanicError{Value: v, Stack: debug.Stack()}
}

// Concurrent tells whether the generator has started goroutines with [Go], so
// that the order of its calls may differ from run to run. Call it in the loop's
// body.
func (r *Run) Concurrent() bool { return r.waiters.Load() != nil }

// Context is what the generator works under. It ends with the run; its cause is
// why.
func (r *Run) Context() context.Context { return r.ctx }

// Stop ends the run: its context is cancelled for the given cause, and every
// call that waits returns it. It does not wait for the generator to return, and
// may be called from anywhere, also from the loop's body, and more than once;
// the first cause holds.
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

// publicError makes a generator's error one of this package's if the run was ended
// from outside, so that a driver can tell a stop from a failure.
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
