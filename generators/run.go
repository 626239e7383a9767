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
	return yield(&spawn{fn: fn})
}

// spawn is how Go reaches the session behind a yield.
type spawn struct {
	fn func(context.Context)
	// alone: the generator itself waits while fn runs, so that the order of its
	// calls is the same in every run.
	alone bool
}

func (*spawn) event() {}

// A Run is one execution of a photon: it turns the loop body of a range over
// its events into a yield that any goroutine may call at any time. Most callers
// need no more of it than [Photon.Run]; an engine that keeps thousands of runs
// waiting stops each by its Run, and spares them a context of their own.
type Run struct {
	id     string // see Name
	photon *Photon
	args   json.RawMessage
	ctx    context.Context
	cancel context.CancelCauseFunc
	unlink func() bool // from the context that it was prepared under; nil if that can't end
	body   func(Event, error) bool
	// returned: the generator has, and the last pair was handed over.
	returned bool

	mu       sync.Mutex
	over     bool    // yield is false from now on
	left     bool    // the loop was left: the body must not be called again
	thrown   *thrown // how it was left, if not by break or return
	keys     keys
	crowd    atomic.Pointer[crowd] // nil until the generator starts goroutines
	crash    *PanicError           // of a goroutine started by Go
	children sync.WaitGroup

	// waiting are the calls without a reply. They have a lock of their own:
	// mu is held while the body runs, and the body may settle calls.
	waitingMu sync.Mutex
	waiting   []*Call
}

// thrown is a panic of the loop body, or else its runtime.Goexit, as in
// t.Fatal. The body may run on any goroutine that yields, but it belongs to
// the one that ranges.
type thrown struct {
	value any
	exit  bool
}

func (r *Run) yield(e Event) bool {
	switch e := e.(type) {
	case *spawn:
		return r.spawn(e)
	case *handoff:
		ok := false
		defer func() { e.taken <- ok }() // even if the body panics: its sender waits
		ok = r.yield(e.Event)
		return ok
	case nil:
		return r.ctx.Err() == nil
	}
	if isNil(e) {
		return r.ctx.Err() == nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := e.(*Call); ok {
		r.bind(c)
	}
	if r.over || r.ctx.Err() != nil {
		return false
	}
	return r.hand(e, nil)
}

// isNil tells a typed nil, which says as much as a nil event.
func isNil(e Event) bool {
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// hand calls the loop body, of which there is one at a time: r.mu is held.
func (r *Run) hand(e Event, err error) (more bool) {
	returned := false
	defer func() {
		if more {
			return
		}
		r.over, r.left = true, true
		r.Stop(ErrStopped)
		if returned {
			return
		}
		v := recover()
		r.thrown = &thrown{v, v == nil}
		if v != nil {
			panic(v)
		}
	}()
	more = r.body(e, err)
	returned = true
	return more
}

// bind ties a call to this run and makes its key unique.
func (r *Run) bind(c *Call) {
	c.run = r
	c.Concurrent = r.Concurrent()
	c.Key = r.keys.unique(c.Key)
	r.waitingMu.Lock()
	r.waiting = append(r.waiting, c)
	r.waitingMu.Unlock()
	if r.ctx.Err() != nil { // Stop may have been here already
		c.Settle(Reply{Err: stopCause(r.ctx)})
	}
}

// settled forgets a call that has its reply.
func (r *Run) settled(c *Call) {
	r.waitingMu.Lock()
	defer r.waitingMu.Unlock()
	if i := slices.Index(r.waiting, c); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
}

func (r *Run) spawn(e *spawn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ctx.Err() != nil {
		return false
	}
	var beside *crowd // that it is one of
	if !e.alone {
		beside = r.join()
	}
	r.children.Go(func() {
		defer beside.leave()
		defer func() {
			if v := recover(); v != nil {
				r.crashed(v)
			}
		}()
		e.fn(r.ctx)
	})
	return true
}

func (r *Run) crashed(v any) {
	p := &PanicError{Value: v, Stack: debug.Stack()}
	r.mu.Lock()
	if r.crash == nil {
		r.crash = p
	}
	r.mu.Unlock()
	r.Stop(fmt.Errorf("%w: %w", ErrStopped, p))
}

// finish waits for the run's goroutines, since one of them may yet panic, and
// hands the last pair to the loop body, unless that was left already.
func (r *Run) finish(result *Result, err error) {
	r.mu.Lock()
	r.over = true
	if err == nil && r.ctx.Err() != nil {
		err = stopCause(r.ctx)
	}
	r.mu.Unlock()
	r.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.crash != nil {
		err = r.crash
	}
	switch {
	case r.left:
	case err != nil:
		r.hand(nil, err)
	default:
		r.hand(result, nil)
	}
}

// close ends the run's context and waits for its goroutines.
func (r *Run) close() {
	r.Stop(ErrStopped)
	r.children.Wait()
}

// rethrow ends the goroutine that ranges as its loop body did on another one,
// or in spite of a generator that recovered.
func (r *Run) rethrow() {
	switch {
	case r.thrown == nil:
	case r.thrown.exit:
		runtime.Goexit()
	default:
		panic(r.thrown.value)
	}
}

// guard turns a panic of the generator into an error. A panic of the loop
// body, which passes through the generator's frames, goes on to its owner.
func (r *Run) guard(err *error) {
	v := recover()
	if v == nil {
		return
	}
	r.mu.Lock() // another goroutine may be in the body; ours has left it
	t := r.thrown
	r.mu.Unlock()
	if t != nil && !t.exit {
		panic(t.value)
	}
	*err = &PanicError{Value: v, Stack: debug.Stack()}
}

// Concurrent tells whether the generator has started goroutines with [Go], so
// that the order of its calls may differ from run to run. Call it in the loop's
// body.
func (r *Run) Concurrent() bool { return r.crowd.Load() != nil }

// Context is what the generator works under. It ends with the run; its cause is
// why.
func (r *Run) Context() context.Context { return r.ctx }

// Stop ends the run: its context is cancelled for the given cause, and every
// call that waits returns it. It does not wait for the generator to return, and
// may be called from anywhere, also from the loop's body, and more than once;
// the first cause holds.
func (r *Run) Stop(cause error) {
	r.cancel(cause)
	r.waitingMu.Lock()
	waiting := r.waiting
	r.waiting = nil
	r.waitingMu.Unlock()
	for _, c := range waiting {
		c.Settle(Reply{Err: stopCause(r.ctx)})
	}
}

// public makes a generator's error one of this package's if the run was ended
// from outside, so that a driver can tell a stop from a failure.
func (r *Run) public(err error) error {
	if err == nil || r.ctx.Err() == nil {
		return err
	}
	cause := stopCause(r.ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	return err
}
