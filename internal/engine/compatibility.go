package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// A photon whose code has changed since a run began can't resume it. This file has
// the checks that run before any of the photon's code. The history detects a
// generator that makes other calls; see worker.replayCall.

// checkVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func (r *trackedRun) checkVersion() error {
	then, now := r.started.Version, r.photon.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "an unnamed version"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return toolErrorf("the tool has changed since this run began: it was version %q then, and is %s now", then, now)
}

// checkArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func (r *trackedRun) checkArguments(args json.RawMessage) error {
	_, err := r.photon.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return toolErrorf("the tool has changed since this run began, and its arguments are no longer valid: %v", invalid)
}
