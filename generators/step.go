package generators

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/recordedvalue"
)

// A StepError is the recorded error of a step. A step returns the same error when it
// runs and when it is replayed.
type StepError struct {
	Key     string
	Message string
}

func (e *StepError) Error() string { return e.Message }

// A StepOption changes how a [Step] runs.
type StepOption func(*stepOptions)

type stepOptions struct {
	retries int
	wait    time.Duration
}

// Retries runs a failing step up to n more times. The first delay is wait; it doubles
// with each retry, up to a day. Only the last error is recorded.
func Retries(n int, wait time.Duration) StepOption {
	return func(o *stepOptions) { o.retries, o.wait = n, wait }
}

// Step runs a side effect and records its value or error. When a durable run is
// replayed, Step returns the recorded outcome and doesn't call fn. If the process
// crashes after the effect but before the record, fn runs again: the effect happens
// at least once, not exactly once. Within fn, [IdempotencyKey] returns a key for
// services that detect repeated requests.
//
// Step returns the value as encoding/json decodes it, so T must survive encoding and
// decoding. The error is a [*StepError], or the reason why the run ended. The context
// of fn ends with the run.
//
// A replay doesn't call fn, so fn must not make calls: a question, a step or a [Sleep]
// inside a step ends the run with an error when it is yielded.
func Step[T any](yield Yield, key string, fn func(context.Context) (T, error), opts ...StepOption) (T, error) {
	var zero T
	c := call.New(call.StepKind, key, nil)
	if !yield((*callEvent)(c)) {
		return zero, stopCause(c.Context())
	}
	if r, ok := c.Settled(); ok {
		return decodeStepValue[T](c.Key, r)
	}
	var o stepOptions
	for _, opt := range opts {
		opt(&o)
	}
	var value T
	var err error
	runOf(c).beginStep(c.Key)
	callStepFunction(func() { value, err = runWithRetries(c, yield, fn, o) })
	runOf(c).endStep(c.Key)
	if c.Context().Err() != nil {
		return zero, stopCause(c.Context())
	}
	record := &Stepped{Key: c.Key}
	if err == nil {
		if record.Value, err = json.Marshal(value); err != nil {
			err = fmt.Errorf("the step's value can't be encoded as JSON: %w", err)
		}
	}
	if err != nil {
		record.Error = cmp.Or(call.TruncateText(err.Error()), "the step failed") // empty is success, in the log
	}
	if !yield(record) {
		return zero, stopCause(c.Context())
	}
	r := call.Reply{Value: record.Value}
	if err != nil {
		r.Err = &StepError{c.Key, record.Error}
	}
	return decodeStepValue[T](c.Key, r)
}

// maxRetryWait is the maximum delay between [Retries].
const maxRetryWait = 24 * time.Hour

func runWithRetries[T any](c *call.Call, yield Yield, fn func(context.Context) (T, error), o stepOptions) (T, error) {
	wait := o.wait
	ctx := stepContext(c)
	for try := 0; ; try++ {
		value, err := fn(ctx)
		if err == nil || try >= o.retries {
			return value, err
		}
		yield((*callEvent)(c)) // the try is over
		yield(Log(Warning, fmt.Sprintf("step %s failed, try %d of %d: %v", c.Key, try+1, o.retries+1, err)))
		select {
		case <-time.After(wait):
		case <-c.Context().Done():
			return value, err
		}
		yield((*callEvent)(c)) // the next one begins
		if wait < maxRetryWait {
			wait = min(2*wait, maxRetryWait)
		}
	}
}

func decodeStepValue[T any](key string, r call.Reply) (T, error) {
	var value T
	if r.Err != nil {
		return value, r.Err
	}
	if err := json.Unmarshal(r.Value, &value); err != nil {
		return value, &recordedvalue.Error{What: "value of step " + key, Err: err}
	}
	return value, nil
}

// idempotencyKey is the context key of a step's idempotency key.
type idempotencyKey struct{}

// IdempotencyKey returns a key that identifies one step of one run and is the same for
// every attempt. Pass it to a service that supports such keys, so that a step that
// runs again after a crash has its effect only once. The context must be the one that
// [Step] passes to its function; for others, the key is empty.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	return key
}

// SetID implements [call.Run].
func (r *run) SetID(id string) { r.id = id }

// stepContext returns the context for the function of a step.
func stepContext(c *call.Call) context.Context {
	r := runOf(c)
	if r == nil {
		return c.Context()
	}
	r.mu.Lock()
	if r.id == "" {
		r.id = rand.Text()
	}
	id := r.id
	r.mu.Unlock()
	return context.WithValue(r.ctx, idempotencyKey{}, id+"/"+c.Key)
}
