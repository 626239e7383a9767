package engine

import (
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// kindStatus is the kind of [generators.StatusEvent] entries.
const kindStatus runlog.Kind = "status"

// maxStatusBytes bounds the status that is kept in memory for a run: there may be
// many thousands.
const maxStatusBytes = 200

// A pollInfo has what the engine keeps in memory only for runs whose callers poll
// them; see [StartRequest.RetainFor] and [Engine.RetainAfterEnd].
type pollInfo struct {
	retainFromStart time.Duration
	retainFromEnd   time.Duration
	stateChangedAt  time.Time
	latestStatus    string
}

// newPollInfo returns nil for a run whose caller doesn't poll it.
func newPollInfo(s runlog.Started, at time.Time) *pollInfo {
	if s.RetainFor <= 0 {
		return nil
	}
	return &pollInfo{retainFromStart: time.Duration(s.RetainFor), stateChangedAt: at.Round(0)}
}

// applyStatus keeps the latest status that the photon reported. Callers hold mu.
func (r *trackedRun) applyStatus(e runlog.Entry) error {
	if r.poll == nil {
		return nil
	}
	s, err := runlog.Decode[generators.StatusEvent](e)
	if err != nil {
		return err
	}
	r.poll.latestStatus = strings.Clone(humanize.TruncateBytes(s.Text, maxStatusBytes, "…"))
	return nil
}
