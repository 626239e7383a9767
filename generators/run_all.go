package generators

import (
	"encoding/json"
	"fmt"
)

// All executes the run, as [Photon.Run] describes. Call it at most once:
//
//	for event, err := range run.All { … }
func (r *Run) All(body func(Event, error) bool) {
	r.body = body
	defer r.cleanUp()
	r.deliverLast(r.invoke())
	r.returned = true
}

// cleanUp releases what the run holds, no matter how All ends.
func (r *Run) cleanUp() {
	r.stopAndWait()
	if r.stopAfterFunc != nil {
		r.stopAfterFunc()
	}
	if r.returned {
		r.repanic()
	}
}

func (r *Run) invoke() (result *Result, err error) {
	defer r.recoverPanic(&err)
	return r.encodeResult(r.photon.invoke(r.ctx, r.args, r.yield))
}

// encodeResult converts what the generator returned to the end of the run.
func (r *Run) encodeResult(value any, err error) (*Result, error) {
	if err != nil {
		_ = err.Error() // so that a typed nil panics within the tool's recover
		return nil, r.publicError(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("the tool's result can't be encoded as JSON: %w", err)
	}
	return &Result{Value: raw}, nil
}

func decodeArgs[In any](args json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(args, &in); err != nil {
		return in, fmt.Errorf("the arguments don't fit: %w", err)
	}
	return in, nil
}
