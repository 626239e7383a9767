package generators

import (
	"encoding/json"
	"fmt"
)

// All runs the photon, once, as [Photon.Run] describes:
//
//	for event, err := range run.All { … }
func (r *Run) All(body func(Event, error) bool) {
	r.body = body
	defer r.cleanUp()
	r.deliverLast(r.invoke())
	r.returned = true
}

// cleanUp ends what All began, however it ends.
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

// encodeResult is how a run ends whose generator returned.
func (r *Run) encodeResult(value any, err error) (*Result, error) {
	if err != nil {
		_ = err.Error() // a typed nil panics here, where that is the tool's fault
		return nil, r.publicError(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("the tool's result has no JSON form: %w", err)
	}
	return &Result{Value: raw}, nil
}

func decodeArgs[In any](args json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(args, &in); err != nil {
		return in, fmt.Errorf("the arguments don't fit: %w", err)
	}
	return in, nil
}
