package run

import (
	"time"

	"github.com/photon-beam/beam/generators"
)

// elapsed is how long the run has worked, waiting left out. Callers hold mu.
func (r *record) elapsed() time.Duration {
	if r.work == nil || r.work.resumed.IsZero() {
		return r.spent
	}
	return r.spent + time.Since(r.work.resumed)
}

// clock lets the run's time go on while no question is open, and stand still
// otherwise. Callers hold mu.
func (r *record) clock() {
	w := r.work
	if w == nil {
		return
	}
	switch goes := r.state == Running && w.still == 0; {
	case goes && w.resumed.IsZero():
		w.resumed = time.Now()
		w.startLimit()
	case !goes && !w.resumed.IsZero():
		r.spent = r.elapsed()
		w.resumed = time.Time{}
		if w.limit != nil {
			w.limit.Stop()
		}
	}
}

func (w *worker) startLimit() {
	total := w.photon.Options().TimeLimit
	if total <= 0 {
		return
	}
	left := total - w.spent
	if w.limit != nil {
		w.limit.Reset(left)
		return
	}
	w.limit = time.AfterFunc(left, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.work == w && !w.resumed.IsZero() {
			w.run.Stop(generators.ErrTimeLimit)
		}
	})
}
