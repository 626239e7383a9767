package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/runlog"
)

// A run whose tool has changed is parked, if the change shows:
// another version, arguments that are no longer valid, or other calls than the
// log has. [History.Take] compares the calls. They differ, too, if the tool isn't
// deterministic: the digest of the program that recorded them tells which it is.

// A DiffersError means that a replay can't go on, because it differs from what is recorded. Its
// text is for people.
type DiffersError struct{ text string }

func (e *DiffersError) Error() string { return e.text }

// ToolChangedErrorf returns the error for a run that can't be resumed, because the
// tool has changed since it began.
func ToolChangedErrorf(format string, args ...any) error {
	return differsErrorf("the tool has changed since this run began: "+format, args...)
}

func differsErrorf(format string, args ...any) error {
	return &DiffersError{fmt.Sprintf(format, args...)}
}

// differsErrorf returns the error for a replay that differs from the recorded call
// past, and says why: the program has changed since it made the call, or the tool isn't
// deterministic.
func (h *History) differsErrorf(past *Call, format string, args ...any) error {
	const causes = "Usual causes are a clock, a random number, a file or database that is read, or the order of a map, outside of a step"
	detail := fmt.Sprintf(format, args...)
	switch past.program {
	case "":
		return differsErrorf("the tool has changed since this run began, or it is not deterministic: %s. %s", detail, causes)
	case h.current():
		return differsErrorf("the tool is not deterministic: %s. The program has not changed since. %s", detail, causes)
	}
	return ToolChangedErrorf("%s. Another program recorded it", detail)
}

// CheckAllReplayed returns an error if a generator that has returned did not make all recorded
// calls.
func (h *History) CheckAllReplayed() error {
	if h.IsDone() {
		return nil
	}
	first, names := h.describeUnreplayed()
	return h.differsErrorf(first, "it now returned without making %s", names)
}

// describeUnreplayed names the first recorded calls that were not replayed, earliest
// first, and returns the earliest.
func (h *History) describeUnreplayed() (first *Call, names string) {
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

// WaitsTooEarly returns the error for a generator that waits for the reply to a call, although the
// log has calls that it hasn't made again.
func (h *History) WaitsTooEarly(c *driver.Call, secrets mask.Secrets) error {
	first, names := h.describeUnreplayed()
	return h.differsErrorf(first, "it now waits at the call %q (%s) without having made %s", secrets.Key(c.Key), c.Kind, names)
}

// CheckVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func CheckVersion(s *runlog.Started, p *generators.Photon) error {
	then, now := s.Version, p.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "an unnamed version"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return ToolChangedErrorf("it was version %q then, and is %s now", then, now)
}

// CheckArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func CheckArguments(p *generators.Photon, args json.RawMessage) error {
	_, err := p.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return ToolChangedErrorf("its arguments are no longer valid: %v", invalid)
}
