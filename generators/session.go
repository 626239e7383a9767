package generators

import (
	"context"
	"errors"
	"fmt"
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

// Go runs fn in a goroutine that belongs to the run: its context ends with the
// run's, the run waits for it before it lets go, and a panic in it ends the
// run and not the process. Goroutines that yield calls must be started by it.
// It returns false, and starts nothing, if the run has stopped.
func Go(yield Yield, fn func(ctx context.Context)) bool {
	return yield(&spawn{fn: fn})
}

// spawn is how Go reaches the session behind a yield.
type spawn struct{ fn func(context.Context) }

func (*spawn) event() {}

// A session is one execution: it turns the loop body of a range over
// [Photon.Run] into a yield that any goroutine may call at any time.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   func(Event, error) bool

	mu       sync.Mutex
	over     bool // the loop was left, or the generator returned
	inBody   bool
	keys     map[string]int
	spawned  bool
	crash    *PanicError // of a goroutine started by Go
	children sync.WaitGroup
}

func newSession(ctx context.Context, body func(Event, error) bool) *session {
	s := &session{body: body}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

func (s *session) yield(e Event) bool {
	switch e := e.(type) {
	case *spawn:
		return s.spawn(e.fn)
	case *handoff:
		ok := s.yield(e.Event)
		e.taken <- ok
		return ok
	case nil:
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
	s.inBody = true
	ok := s.body(e, nil)
	s.inBody = false
	if !ok {
		s.over = true
		s.cancel(ErrStopped)
	}
	return ok
}

// bind ties a call to this run and makes its key unique.
func (s *session) bind(c *Call) {
	c.ctx = s.ctx
	c.Concurrent = s.spawned
	if s.keys == nil {
		s.keys = make(map[string]int)
	}
	s.keys[c.Key]++
	if n := s.keys[c.Key]; n > 1 {
		c.Key += "#" + strconv.Itoa(n)
	}
}

func (s *session) spawn(fn func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.ctx.Err() != nil {
		return false
	}
	s.spawned = true
	s.children.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				s.crashed(v)
			}
		}()
		fn(s.ctx)
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

// finish hands the last pair to the loop body, unless that was left already,
// and waits for the run's goroutines.
func (s *session) finish(result *Result, err error) {
	s.mu.Lock()
	switch {
	case s.crash != nil:
		err = s.crash
	case err == nil && s.ctx.Err() != nil:
		err = stopCause(s.ctx)
	}
	if !s.over {
		s.over = true
		if err != nil {
			s.body(nil, err)
		} else {
			s.body(result, nil)
		}
	}
	s.mu.Unlock()
	s.cancel(ErrStopped)
	s.children.Wait()
}

// guard turns a panic of the generator into an error. A panic of the loop
// body, which passes through the generator's frames, goes on to its owner.
func (s *session) guard(err *error) {
	v := recover()
	if v == nil {
		return
	}
	s.mu.Lock() // another goroutine may be in the body; ours has left it
	inBody := s.inBody
	s.mu.Unlock()
	if inBody {
		panic(v)
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
