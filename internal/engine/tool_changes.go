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
// log has. [worker.replayCall] compares the calls. They differ, too, if the tool isn't
// deterministic: the digest of the program that recorded them tells which it is.

// toolChangedErrorf returns the error for a run that can't be resumed, because the
// tool has changed since it began.
func toolChangedErrorf(format string, args ...any) error {
	return toolErrorf("the tool has changed since this run began: "+format, args...)
}

// replayDiffersErrorf returns the error for a replay that differs from the recorded call
// past, and says why: the program has changed since it made the call, or the tool isn't
// deterministic.
func (w *worker) replayDiffersErrorf(past *recordedCall, format string, args ...any) error {
	const causes = "Usual causes are a clock, a random number, a file or database that is read, or the order of a map, outside of a step"
	detail := fmt.Sprintf(format, args...)
	switch past.program {
	case "":
		return toolErrorf("the tool has changed since this run began, or it is not deterministic: %s. %s", detail, causes)
	case w.engine.program():
		return toolErrorf("the tool is not deterministic: %s. The program has not changed since. %s", detail, causes)
	}
	return toolChangedErrorf("%s. The program is another one than then", detail)
}

// checkVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func (r *trackedRun) checkVersion() error {
	then, now := r.Start.Version, r.photon.Options().Version
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
func (w *worker) checkAllReplayed() error {
	if w.history == nil || len(w.history.unreplayedCalls) == 0 {
		return nil
	}
	first, names := w.history.describeUnreplayed()
	return w.replayDiffersErrorf(first, "it now returned without making %s", names)
}

// describeUnreplayed names the first recorded calls that were not replayed, earliest
// first, and returns the earliest.
func (h *history) describeUnreplayed() (first *recordedCall, names string) {
	keys := make([]string, 0, len(h.unreplayedCalls))
	for k := range h.unreplayedCalls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(h.unreplayedCalls[a].seq) - int(h.unreplayedCalls[b].seq) })
	var list []string
	for _, k := range keys[:min(3, len(keys))] {
		list = append(list, fmt.Sprintf("%q (%s)", k, h.unreplayedCalls[k].kind))
	}
	return h.unreplayedCalls[keys[0]], strings.Join(list, ", then ")
}
