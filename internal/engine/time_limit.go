package engine

import (
	"time"

	"github.com/photon-beam/beam/generators"
)

// elapsedTime returns how long the run has worked, excluding the time it has waited or slept.
// Callers hold mu.
func (r *trackedRun) elapsedTime() time.Duration {
	if r.worker == nil || r.worker.resumedAt.IsZero() {
		return r.timeSpent
	}
	return r.timeSpent + time.Since(r.worker.resumedAt)
}

// updateClock starts or stops the run's clock, and the timer of its time limit. The
// clock runs while no question is open, no sleep in progress and no write stalled. Callers hold mu.
func (r *trackedRun) updateClock() {
	w := r.worker
	if w == nil {
		return
	}
	switch working := r.State == Running && w.stalledCount == 0; {
	case working && w.resumedAt.IsZero():
		w.resumedAt = time.Now()
		w.startTimeLimit()
	case !working && !w.resumedAt.IsZero():
		r.timeSpent = r.elapsedTime()
		w.resumedAt = time.Time{}
		if w.limitTimer != nil {
			w.limitTimer.Stop()
		}
	}
}

// startTimeLimit starts the timer that stops the generator, if the photon has a time
// limit.
func (w *worker) startTimeLimit() {
	total := w.photon.Options().TimeLimit
	if total <= 0 {
		return
	}
	left := total - w.timeSpent
	if w.limitTimer != nil {
		w.limitTimer.Reset(left)
		return
	}
	w.limitTimer = time.AfterFunc(left, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.worker == w && !w.resumedAt.IsZero() {
			w.generator.Stop(generators.ErrTimeLimit)
		}
	})
}
