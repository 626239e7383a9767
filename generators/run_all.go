package generators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/call"
)

// All implements [call.Run].
func (r *run) All(body func(any, error) bool) {
	r.body, r.current = body, &r.root
	defer r.cleanUp()
	r.deliverLast(r.invoke())
	r.returned = true
}

// cleanUp releases what the run holds, no matter how All ends.
func (r *run) cleanUp() {
	r.stopAndWait()
	if r.stopAfterFunc != nil {
		r.stopAfterFunc()
	}
	if r.returned {
		r.repanic()
	}
}

func (r *run) invoke() (result *Result, err error) {
	defer r.recoverPanic(&err)
	return r.encodeResult(r.photon.invoke(r.ctx, r.args, r.yield))
}

// encodeResult converts what the generator returned to the end of the run.
func (r *run) encodeResult(value any, err error) (*Result, error) {
	if err != nil {
		_ = err.Error() // so that a typed nil panics within the tool's recover
		return nil, r.publicError(err)
	}
	raw, err := encodeValue(value)
	if err != nil {
		return nil, fmt.Errorf("the tool's result can't be encoded as JSON: %w", err)
	}
	return &Result{Value: raw}, nil
}

// encodeValue is [json.Marshal]. For a long text, it takes a third of the memory.
func encodeValue(value any) (json.RawMessage, error) {
	const piece = 32 << 10
	text, ok := value.(string)
	if !ok || len(text) <= piece {
		return json.Marshal(value)
	}
	raw := make([]byte, 1, len(text)+len(text)/16+2)
	raw[0] = '"'
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	for len(text) > 0 {
		n := min(piece, len(text))
		for n < len(text) && n > piece-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		encoded.Reset()
		if err := encoder.Encode(text[:n]); err != nil {
			return nil, err
		}
		raw = append(raw, encoded.Bytes()[1:encoded.Len()-len("\"\n")]...)
		text = text[n:]
	}
	return append(raw, '"'), nil
}

func decodeArgs[In any](args json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(args, &in); err != nil {
		return in, fmt.Errorf("the arguments don't fit: %w", err)
	}
	return in, nil
}

// deliverLast waits for the run's goroutines, because one of them may still panic,
// and then passes the last pair to the loop body unless the loop was left.
func (r *run) deliverLast(result *Result, err error) {
	r.mu.Lock()
	r.ended = true
	if err == nil && r.ctx.Err() != nil {
		err = stopCause(r.ctx)
	}
	r.mu.Unlock()
	r.stopAndWait()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.goroutinePanic != nil:
		err = r.goroutinePanic
	case r.mistake != nil:
		err = r.mistake
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
func (r *run) stopAndWait() {
	r.Stop(ErrStopped)
	r.children.Wait()
}

// repanic repeats the exit of the loop body on the ranging goroutine: the body may
// have run on another goroutine, or the generator may have recovered its panic.
func (r *run) repanic() {
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
func (r *run) recoverPanic(err *error) {
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
	*err = &call.PanicError{Value: v, Stack: debug.Stack()}
}

// publicError replaces a generator's context error by the reason why the run was
// stopped, so that a driver can distinguish a stop from a failure.
func (r *run) publicError(err error) error {
	if err == nil || r.ctx.Err() == nil {
		return err
	}
	cause := stopCause(r.ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	return err
}
