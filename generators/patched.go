package generators

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/call"
)

// Patched reports whether a run of a durable photon takes the new way at a place that its author
// has changed while runs wait:
//
//	if generators.Patched(yield, "ask-finance") {
//		… // the new code
//	} else {
//		… // the old code, for runs that passed this place with it
//	}
//
// It is true, and recorded, for a run that reaches the place, and false for one that passed it
// before it was changed, so that both go on. For one id, a run has one answer. The id must not be
// used again for another change. Once no run of the old code is left, the old way can go, and
// the call of Patched with it once none of the new one waits.
//
// Like a step, it must not be called inside a step. It is false, too, if the run has ended.
func Patched(yield Yield, id string) bool {
	c := call.New(call.StepKind, "patch "+id, nil)
	c.Patch = true
	if !yield((*callEvent)(c)) {
		return false
	}
	if r, ok := c.Settled(); ok {
		return string(r.Value) == "true"
	}
	return yield(&Stepped{Key: c.Key, Value: json.RawMessage("true")})
}
