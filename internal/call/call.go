// Package call has the calls of photons, such as questions and steps, and what else package
// generators shares with the drivers of photons and keeps from authors. Drivers use it
// through package internal/driver.
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Errors of packages generators and ask, which document them.
var (
	ErrStopped     = errors.New("the run was stopped")
	ErrUnsupported = errors.New("nobody can be asked here")
)

// ErrWithdrawn is the reply to a question that the generator itself took back; see
// [Call.Withdraw].
var ErrWithdrawn = errors.New("the question was withdrawn")

// The kinds of calls that are no questions.
const (
	// StepKind is the kind of the calls that generators.Step yields. With Retries, it
	// yields its call again when a try has failed, and once more when the next one begins.
	StepKind = "step"
	// SleepKind is the kind of the calls that generators.Sleep and SleepUntil yield.
	SleepKind = "sleep"
)

// A Call is an event that waits for a reply: a question, which package ask yields, a
// step, or a sleep. Yielding a call records it; the function that yielded it then waits.
// The driver of the run replies with [Call.Settle], in the loop or later, from any
// goroutine.
type Call struct {
	// Kind is StepKind, SleepKind or the kind of the question.
	Kind string
	// Key names the call within its run. A repeated key gets a suffix, #2, #3
	// and so on, when it is yielded.
	Key string
	// GivenKey is the key without that suffix, once the call is yielded.
	GivenKey string
	// Question is an *askdata.Question, or nil for a step or a sleep.
	Question any
	// Until is when a sleep ends: a driver settles it then. It is zero for other calls.
	Until time.Time
	// Concurrent reports whether the generator had started goroutines with
	// generators.Go before, so that the order of its calls may differ from run to run.
	Concurrent bool
	// More reports whether another call follows before the generator waits, so that a
	// surface can show them together. More is false for the last of them, but a log
	// may lack that call if it was rejected.
	More bool

	// Patch marks the step of generators.Patched: the reply false says that the run passed the place
	// when the code had no such call there.
	Patch bool

	run      Binding             // nil until the call is yielded
	withdraw func(reason string) // see HandleWithdraw; nil if there is none
	once     sync.Once
	done     chan struct{}
	reply    Reply
}

// A Reply settles a call.
type Reply struct {
	// Value is the answer's content or the step's recorded value, as JSON.
	Value json.RawMessage
	// Err is what the waiting helper returns instead of a value.
	Err error
	// By is who answered, a *generators.Caller. It is nil for a step, and if that isn't
	// known.
	By any
	// Open opens a file of the answer by its digest. It is nil if there are no files.
	Open func(digest string) (io.ReadCloser, error)
}

// A Binding is the run to which a call was yielded.
type Binding interface {
	Context() context.Context
	// RemoveCall removes a settled call from the open ones.
	RemoveCall(c *Call)
	// BeginWait counts a goroutine that waits for a reply. If it does, EndWait uncounts it.
	BeginWait() (counted bool)
	EndWait()
}

// Bind sets the run to which the call is yielded.
func (c *Call) Bind(to Binding) { c.run = to }

// Run returns the run to which the call was yielded, or nil.
func (c *Call) Run() Binding { return c.run }

// New returns a call that has not been yielded yet.
func New(kind, key string, question any) *Call {
	return &Call{Kind: kind, Key: key, Question: question, done: make(chan struct{})}
}

// Settle replies to the call. Only the first reply counts; Settle reports whether r is
// the first. It may be called from any goroutine.
func (c *Call) Settle(r Reply) bool {
	first := false
	c.once.Do(func() {
		first = true
		c.reply = r
		close(c.done)
	})
	if first && c.run != nil {
		c.run.RemoveCall(c)
	}
	return first
}

// Withdraw takes an open question back, because no answer is needed anymore. The reason
// is a phrase for people. The reply is [ErrWithdrawn], unless the question was settled
// before. It may be called from any goroutine, once the call has been yielded.
func (c *Call) Withdraw(reason string) {
	if c.withdraw != nil {
		c.withdraw(reason)
		return
	}
	c.Settle(Reply{Err: fmt.Errorf("%w: %s", ErrWithdrawn, reason)})
}

// HandleWithdraw sets what [Call.Withdraw] does. The driver of the run calls it in the
// loop; without it, Withdraw settles the call.
func (c *Call) HandleWithdraw(f func(reason string)) { c.withdraw = f }

// Settled returns the reply. It reports false if there is none yet.
func (c *Call) Settled() (Reply, bool) {
	select {
	case <-c.done:
		return c.reply, true
	default:
		return Reply{}, false
	}
}

// Wait blocks until the call is settled and returns the reply. The end of the run
// settles the call too. Call Wait after yielding: it settles a call that was never
// yielded with [ErrStopped].
func (c *Call) Wait() Reply {
	if c.run == nil {
		c.Settle(Reply{Err: ErrStopped})
		return c.reply
	}
	counted := c.run.BeginWait()
	<-c.done
	if counted {
		c.run.EndWait()
	}
	return c.reply
}

// Context returns the run's context, or a canceled one if the call was never yielded.
func (c *Call) Context() context.Context {
	if c.run == nil {
		return canceledContext
	}
	return c.run.Context()
}

var canceledContext = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrStopped)
	return ctx
}()
