package generators

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
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

// A session is one execution: it turns the loop body of a range over
// [Photon.Run] into a yield that any goroutine may call at any time.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   func(Event, error) bool

	mu       sync.Mutex
	over     bool    // yield is false from now on
	left     bool    // the loop was left: the body must not be called again
	thrown   *thrown // how it was left, if not by break or return
	keys     map[string]int
	spawned  bool
	crash    *PanicError // of a goroutine started by Go
	children sync.WaitGroup
}

// thrown is a panic of the loop body, or else its runtime.Goexit, as in
// t.Fatal. The body may run on any goroutine that yields, but it belongs to
// the one that ranges.
type thrown struct {
	value any
	exit  bool
}

func newSession(ctx context.Context, body func(Event, error) bool) *session {
	s := &session{body: body}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

func (s *session) yield(e Event) bool {
	switch e := e.(type) {
	case *spawn:
		return s.spawn(e)
	case *handoff:
		ok := false
		defer func() { e.taken <- ok }() // even if the body panics: its sender waits
		ok = s.yield(e.Event)
		return ok
	case nil:
		return s.ctx.Err() == nil
	}
	if isNil(e) {
		return s.ctx.Err() == nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := e.(*Call); ok {
		s.bind(c)
	}
	if s.over || s.ctx.Err() != nil {
		return false
	}
	return s.hand(e, nil)
}

// isNil tells a typed nil, which says as much as a nil event.
func isNil(e Event) bool {
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// hand calls the loop body, of which there is one at a time: s.mu is held.
func (s *session) hand(e Event, err error) (more bool) {
	returned := false
	defer func() {
		if more {
			return
		}
		s.over, s.left = true, true
		s.cancel(ErrStopped)
		if returned {
			return
		}
		v := recover()
		s.thrown = &thrown{v, v == nil}
		if v != nil {
			panic(v)
		}
	}()
	more = s.body(e, err)
	returned = true
	return more
}

// bind ties a call to this run and makes its key unique.
func (s *session) bind(c *Call) {
	c.ctx = s.ctx
	c.Concurrent = s.spawned
	if s.keys == nil {
		s.keys = make(map[string]int)
	}
	key := c.Key
	for n := s.keys[key] + 1; s.keys[c.Key] > 0; n++ {
		c.Key = key + "#" + strconv.Itoa(n)
		s.keys[key] = n
	}
	s.keys[c.Key]++
}

func (s *session) spawn(e *spawn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.ctx.Err() != nil {
		return false
	}
	s.spawned = s.spawned || !e.alone
	s.children.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				s.crashed(v)
			}
		}()
		e.fn(s.ctx)
	})
	return true
}

func (s *session) crashed(v any) {
	p := &PanicError{Value: v, Stack: debug.Stack()}
	s.mu.Lock()
	if s.crash == nil {
		s.crash = p
	}
	s.mu.Unlock()
	s.cancel(fmt.Errorf("%w: %w", ErrStopped, p))
}

// finish waits for the run's goroutines, since one of them may yet panic, and
// hands the last pair to the loop body, unless that was left already.
func (s *session) finish(result *Result, err error) {
	s.mu.Lock()
	s.over = true
	if err == nil && s.ctx.Err() != nil {
		err = stopCause(s.ctx)
	}
	s.mu.Unlock()
	s.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crash != nil {
		err = s.crash
	}
	switch {
	case s.left:
	case err != nil:
		s.hand(nil, err)
	default:
		s.hand(result, nil)
	}
}

// close ends the run's context and waits for its goroutines.
func (s *session) close() {
	s.cancel(ErrStopped)
	s.children.Wait()
}

// rethrow ends the goroutine that ranges as its loop body did on another one,
// or in spite of a generator that recovered.
func (s *session) rethrow() {
	switch {
	case s.thrown == nil:
	case s.thrown.exit:
		runtime.Goexit()
	default:
		panic(s.thrown.value)
	}
}

// guard turns a panic of the generator into an error. A panic of the loop
// body, which passes through the generator's frames, goes on to its owner.
func (s *session) guard(err *error) {
	v := recover()
	if v == nil {
		return
	}
	s.mu.Lock() // another goroutine may be in the body; ours has left it
	t := s.thrown
	s.mu.Unlock()
	if t != nil && !t.exit {
		panic(t.value)
	}
	*err = &PanicError{Value: v, Stack: debug.Stack()}
}

// public makes a generator's error one of this package's if the run was ended
// from outside, so that a driver can tell a stop from a failure.
func (s *session) public(err error) error {
	if err == nil || s.ctx.Err() == nil {
		return err
	}
	cause := stopCause(s.ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	return err
}
