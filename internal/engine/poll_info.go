package engine

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// kindStatus is the kind of a [generators.StatusEvent].
const kindStatus runlog.Kind = "status"

// maxStatusBytes bounds the status that is remembered of a run, in bytes: a line for a
// list, of which there may be many thousands.
const maxStatusBytes = 200

// A pollInfo is what is remembered of a run whose caller polls it, of which there
// are few among all runs; see [StartRequest.RetainFor] and [Engine.RetainAfterEnd].
type pollInfo struct {
	retainFromStart time.Duration // from the start
	retainFromEnd   time.Duration // from the end
	stateChangedAt  time.Time     // when the state changed last
	latestStatus    string        // the latest status
}

func newPollInfo(s runlog.Started, at time.Time) *pollInfo {
	if s.RetainFor <= 0 {
		return nil
	}
	return &pollInfo{retainFromStart: time.Duration(s.RetainFor), stateChangedAt: at.Round(0)}
}

// applyStatus remembers the latest status that the photon told. Callers hold mu.
func (r *trackedRun) applyStatus(e runlog.Entry) error {
	if r.poll == nil {
		return nil
	}
	s, err := runlog.Decode[generators.StatusEvent](e)
	if err != nil {
		return err
	}
	r.poll.latestStatus = strings.Clone(truncateStatus(s.Text))
	return nil
}

// truncateStatus cuts a text to maxSaid bytes, between two characters.
func truncateStatus(text string) string {
	if len(text) <= maxStatusBytes {
		return text
	}
	end := maxStatusBytes - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
