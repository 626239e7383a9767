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
	defer r.leave()
	r.finish(r.execute())
	r.returned = true
}

// leave ends what All began, however it ends.
func (r *Run) leave() {
	r.close()
	if r.unlink != nil {
		r.unlink()
	}
	if r.returned {
		r.rethrow()
	}
}

func (r *Run) execute() (result *Result, err error) {
	defer r.guard(&err)
	return r.outcome(r.photon.invoke(r.ctx, r.args, r.yield))
}

// outcome is how a run ends whose generator returned.
func (r *Run) outcome(value any, err error) (*Result, error) {
	if err != nil {
		_ = err.Error() // a typed nil panics here, where that is the tool's fault
		return nil, r.public(err)
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
