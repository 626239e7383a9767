package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
)

// A run whose tool has changed fails when it is resumed, if the change shows:
// another version, arguments that are no longer valid, or other calls than the
// log has. [worker.replayCall] compares the calls.

// toolChangedErrorf returns the error for a run that can't be resumed, because the
// tool has changed since it began.
func toolChangedErrorf(format string, args ...any) error {
	return toolErrorf("the tool has changed since this run began: "+format, args...)
}

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
	return toolChangedErrorf("it was version %q then, and is %s now", then, now)
}

// checkArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func (r *trackedRun) checkArguments(args json.RawMessage) error {
	_, err := r.photon.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return toolChangedErrorf("its arguments are no longer valid: %v", invalid)
}

// checkAllReplayed returns an error if the generator, which has returned, did not
// make all recorded calls.
func (h *history) checkAllReplayed() error {
	if len(h.unreplayedCalls) == 0 {
		return nil
	}
	return toolChangedErrorf("it now returned without making %s", h.describeUnreplayed())
}

// describeUnreplayed names the first recorded calls that were not replayed, earliest
// first.
func (h *history) describeUnreplayed() string {
	keys := make([]string, 0, len(h.unreplayedCalls))
	for k := range h.unreplayedCalls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(h.unreplayedCalls[a].seq) - int(h.unreplayedCalls[b].seq) })
	var names []string
	for _, k := range keys[:min(3, len(keys))] {
		names = append(names, fmt.Sprintf("%q (%s)", k, h.unreplayedCalls[k].kind))
	}
	return strings.Join(names, ", then ")
}
