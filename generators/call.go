package generators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/call"
)

// The reasons why a run ended. Every open call returns the reason as its error.
var (
	// ErrStopped: the run was stopped, or nobody follows it anymore.
	ErrStopped = call.ErrStopped
	// ErrSuspended: this process evicted the run, which will resume from its log.
	// Nothing that the generator yields or returns from now on is recorded.
	ErrSuspended = errors.New("the run was suspended")
	// ErrTimeLimit: the run exceeded its time limit.
	ErrTimeLimit = errors.New("the run's time limit is used up")
)

// A callEvent is a call as an event: a question, a step or a sleep.
type callEvent call.Call

func init() {
	call.Hooks.Prepare = func(ctx context.Context, photon any, args json.RawMessage) call.Run {
		return photon.(*Photon).prepare(ctx, args)
	}
	call.Hooks.ExclusiveKey = func(photon any, args json.RawMessage) (string, error) { return photon.(*Photon).exclusiveKeyOf(args) }
	call.Hooks.PhotonError = func(photon any) error { return photon.(*Photon).err }
	call.Hooks.ArtifactError = func(artifact any) error { return artifact.(*Artifact).check() }
	call.Hooks.Event = func(c *call.Call) any { return (*callEvent)(c) }
	call.Hooks.CallOf = func(event any) (*call.Call, bool) {
		switch e := event.(type) {
		case *callEvent:
			return (*call.Call)(e), e != nil
		case *call.Call:
			return e, e != nil
		}
		return nil, false
	}
}

// runOf returns the run to which a call was yielded; nil if it wasn't.
func runOf(c *call.Call) *run {
	r, _ := c.Run().(*run)
	return r
}

// stopCause returns the reason why a run's context ended as one of this package's
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
