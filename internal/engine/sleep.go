package engine

import (
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// earliestWake and latestWake bound the end of a sleep: JSON has no other years, and the
// zero time is no deadline.
var (
	earliestWake = time.Unix(1, 0).UTC()
	latestWake   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// recordSleep records the sleep of a call.
func (w *worker) recordSleep(c *generators.Call) error {
	until := c.Until.UTC().Round(0)
	switch {
	case w.core.skipSleeps:
		until = time.Now().UTC().Round(0)
	case until.Before(earliestWake):
		until = earliestWake
	case until.After(latestWake):
		until = latestWake
	}
	w.recordingCall = c
	err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{
		Key: w.secrets.Key(c.Key), GivenKey: givenKey(c, w.secrets), Until: until, TimeSpent: ask.Millis(w.clock.elapsed()),
	}).From(w.generator.Goroutine()))
	w.recordingCall = nil
	return err
}

// nextWake returns when the first of a run's sleeps in progress ends; zero if there is none.
func nextWake(r *runstate.Run) (first time.Time) {
	for _, s := range r.Sleeps {
		first = schedule.Earliest(first, s.Until)
	}
	return first
}
