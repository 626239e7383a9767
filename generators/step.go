package generators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A StepError is the recorded failure of a step. A live and a replayed step
// return the same one.
type StepError struct {
	Key     string
	Message string
}

func (e *StepError) Error() string { return e.Message }

// A StepOption changes how a [Step] is run.
type StepOption func(*stepOptions)

type stepOptions struct {
	retries int
	wait    time.Duration
}

// Retries runs a failing step up to n more times, waiting first for wait and
// then twice as long each time, up to a day. Only the last error is recorded.
func Retries(n int, wait time.Duration) StepOption {
	return func(o *stepOptions) { o.retries, o.wait = n, wait }
}

// Step runs a side effect once in the life of a run. Its value or error is
// recorded; when a durable run is taken up again, the recorded outcome is
// returned and fn does not run. A crash between the effect and its record
// makes it run again: at least once, not exactly once. [IdempotencyKey] tells
// fn's context a key for services that can tell a repeat.
//
// T must survive encoding/json, since the value that Step returns has been
// through it. Errors come back as a [*StepError], or as the reason why the run
// ended. fn's context ends with the run.
func Step[T any](yield Yield, key string, fn func(context.Context) (T, error), opts ...StepOption) (T, error) {
	var zero T
	c := NewCall(StepKind, key, nil)
	if !yield(c) {
		return zero, stopCause(c.Context())
	}
	if r, ok := c.Settled(); ok {
		return decodeStepValue[T](c.Key, r)
	}
	var o stepOptions
	for _, opt := range opts {
		opt(&o)
	}
	value, err := runWithRetries(c, yield, fn, o)
	if c.Context().Err() != nil {
		return zero, stopCause(c.Context())
	}
	record := &Stepped{Key: c.Key}
	if err == nil {
		if record.Value, err = json.Marshal(value); err != nil {
			err = fmt.Errorf("the step's value has no JSON form: %w", err)
		}
	}
	if err != nil {
		record.Error = cmp.Or(truncateText(err.Error()), "the step failed") // empty is success, in the log
	}
	if !yield(record) {
		return zero, stopCause(c.Context())
	}
	r := Reply{Value: record.Value}
	if err != nil {
		r.Err = &StepError{c.Key, record.Error}
	}
	return decodeStepValue[T](c.Key, r)
}

// maxRetryWait is where the doubling of a [Retries] ends.
const maxRetryWait = 24 * time.Hour

func runWithRetries[T any](c *Call, yield Yield, fn func(context.Context) (T, error), o stepOptions) (T, error) {
	wait := o.wait
	ctx := c.stepContext()
	for try := 0; ; try++ {
		value, err := fn(ctx)
		if err == nil || try >= o.retries {
			return value, err
		}
		yield(Log(Warning, fmt.Sprintf("step %s failed, try %d of %d: %v", c.Key, try+1, o.retries+1, err)))
		select {
		case <-time.After(wait):
		case <-c.Context().Done():
			return value, err
		}
		if wait < maxRetryWait {
			wait = min(2*wait, maxRetryWait)
		}
	}
}

func decodeStepValue[T any](key string, r Reply) (T, error) {
	var value T
	if r.Err != nil {
		return value, r.Err
	}
	if err := json.Unmarshal(r.Value, &value); err != nil {
		return value, fmt.Errorf("the recorded value of step %s: %w", key, err)
	}
	return value, nil
}
