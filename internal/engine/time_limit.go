package engine

import (
	"time"

	"github.com/photon-beam/beam/generators"
)

// elapsedTime is how long the run has worked, waiting left out. Callers hold mu.
func (r *trackedRun) elapsedTime() time.Duration {
	if r.worker == nil || r.worker.resumedAt.IsZero() {
		return r.timeSpent
	}
	return r.timeSpent + time.Since(r.worker.resumedAt)
}

// updateClock lets the run's time go on while no question is open, and stand still
// otherwise. Callers hold mu.
func (r *trackedRun) updateClock() {
	w := r.worker
	if w == nil {
		return
	}
	switch goes := r.state == Running && w.stalledCount == 0; {
	case goes && w.resumedAt.IsZero():
		w.resumedAt = time.Now()
		w.startTimeLimit()
	case !goes && !w.resumedAt.IsZero():
		r.timeSpent = r.elapsedTime()
		w.resumedAt = time.Time{}
		if w.limitTimer != nil {
			w.limitTimer.Stop()
		}
	}
}

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
