package engine

import (
	"time"

	"github.com/photon-beam/beam/generators"
)

// A clock measures how long a run has worked, without the time in which it has waited or slept.
// The run's lock guards it.
type clock struct {
	spent time.Duration // until it was last started
	since time.Time     // when that was; zero while the clock is stopped
	timer *time.Timer   // of the time limit, if since isn't zero and there is a limit
}

// elapsed returns how long the run has worked.
func (c *clock) elapsed() time.Duration {
	if c.since.IsZero() {
		return c.spent
	}
	return c.spent + time.Since(c.since)
}

// start starts the clock, unless it runs. It calls expired when the run has worked for limit, if
// that isn't 0.
func (c *clock) start(limit time.Duration, expired func()) {
	if !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	if limit > 0 {
		c.timer = time.AfterFunc(limit-c.spent, expired)
	}
}

// stop stops the clock, if it runs.
func (c *clock) stop() {
	c.spent, c.since = c.elapsed(), time.Time{}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// updateClock starts or stops the run's clock. It runs while no question is open, no sleep in
// progress and no write stalled. Callers hold mu.
func (r *trackedRun) updateClock() {
	w := r.worker
	switch {
	case w == nil:
	case r.State == Running && w.stalledCount == 0:
		r.clock.start(r.photon.Options().TimeLimit, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.worker == w && !r.clock.since.IsZero() {
				w.generator.Stop(generators.ErrTimeLimit)
			}
		})
	default:
		r.clock.stop()
	}
}
