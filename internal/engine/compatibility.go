package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// A photon whose code has changed since a run began can't take it up. What tells
// before any of its code runs is here; that it comes to other calls, the history
// tells.

// checkVersion is an error if the photon's author says that it can't go on with
// the run. A run whose version isn't known, of a photon that had none or by a
// Beam that recorded none, may go on.
func (r *trackedRun) checkVersion() error {
	then, now := r.started.Version, r.photon.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "a version without a name"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return toolErrorf("the tool has changed since this run began: it was version %q then, and is %s now", then, now)
}

// checkArguments is an error if the run's arguments don't fit the photon any more.
func (r *trackedRun) checkArguments(args json.RawMessage) error {
	_, err := r.photon.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return toolErrorf("the tool has changed since this run began, and what it was started with doesn't fit any more: %v", invalid)
}
