package generators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Why a run, and with it every call that waits, came to its end.
var (
	// ErrStopped: somebody stopped the run, or nobody follows it any more.
	ErrStopped = errors.New("the run was stopped")
	// ErrSuspended: the run is let go by this process, to be taken up again
	// from its log. Nothing that is yielded or returned after it is recorded.
	ErrSuspended = errors.New("the run was suspended")
	// ErrTimeLimit: the run used up its own time limit.
	ErrTimeLimit = errors.New("the run's time limit is used up")
)

// StepKind is the kind of the calls that [Step] yields.
const StepKind = "step"

// A Call is an event that waits for a reply: a question to a person (package
// ask makes those) or a step. Yielding it records it; the helper that yielded
// it then waits. A driver answers with Settle, inside the loop or later, from
// any goroutine.
type Call struct {
	// Kind is StepKind or the kind of the question.
	Kind string
	// Key names the call within its run. A repeated key gets a suffix, #2, #3
	// and so on, when it is yielded.
	Key string
	// Question is what is asked, an *ask.Question; nil for a step.
	Question any
	// Concurrent tells that the generator had started goroutines with [Go]
	// before, so that the order of its calls may differ from run to run.
	Concurrent bool
	// More tells that further calls follow at once, before the generator waits,
	// so that a surface can show them together. The last of them has no More;
	// it may still be missing in a log, if it was refused.
	More bool

	run   *Run // nil until it is yielded
	once  sync.Once
	done  chan struct{}
	reply Reply
}

// A Reply settles a call.
type Reply struct {
	// Value is the answer's content or the step's recorded value, as JSON.
	Value json.RawMessage
	// Err is what the waiting helper returns instead of a value.
	Err error
	// Open opens a file of the answer by its digest. Nil if there are none.
	Open func(digest string) (io.ReadCloser, error)
}

// NewCall returns a call that has not been yielded yet.
func NewCall(kind, key string, question any) *Call {
	return &Call{Kind: kind, Key: key, Question: question, done: make(chan struct{})}
}

// Settle answers the call. The first reply holds; Settle tells whether this
// was it. It may be called from any goroutine.
func (c *Call) Settle(r Reply) bool {
	first := false
	c.once.Do(func() {
		first = true
		c.reply = r
		close(c.done)
	})
	if first && c.run != nil {
		c.run.removeCall(c)
	}
	return first
}

// Settled returns the reply if there is one already.
func (c *Call) Settled() (Reply, bool) {
	select {
	case <-c.done:
		return c.reply, true
	default:
		return Reply{}, false
	}
}

// Wait blocks until the call is settled, as the end of its run does too, and
// returns the reply. Call it after yielding: one that was never yielded is
// stopped, unless it is settled.
func (c *Call) Wait() Reply {
	if c.run == nil {
		c.Settle(Reply{Err: ErrStopped})
	}
	beside := c.beginWait()
	<-c.done
	beside.endWait()
	return c.reply
}

// Context is the run's context once the call has been yielded; before that, a
// cancelled one.
func (c *Call) Context() context.Context {
	if c.run == nil {
		return cancelledContext
	}
	return c.run.ctx
}

var cancelledContext = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrStopped)
	return ctx
}()

// stopCause is the reason why a run's context ended, as one of this package's
// errors.
func stopCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	for _, known := range []error{ErrStopped, ErrSuspended, ErrTimeLimit} {
		if errors.Is(cause, known) {
			return cause
		}
	}
	if cause == nil || errors.Is(cause, context.Canceled) {
		return ErrStopped
	}
	return fmt.Errorf("%w: %w", ErrStopped, cause)
}
