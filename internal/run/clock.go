package run

import (
	"time"

	"github.com/photon-beam/beam/generators"
)

// elapsed is how long the run has worked, waiting left out. Callers hold mu.
func (r *record) elapsed() time.Duration {
	if r.work == nil || r.work.resumed == 0 {
		return r.spent
	}
	return r.spent + r.engine.since(r.work.resumed)
}

// clock lets the run's time go on while no question is open, and stand still
// otherwise. Callers hold mu.
func (r *record) clock() {
	w := r.work
	if w == nil {
		return
	}
	switch goes := r.state == Running && w.still == 0; {
	case goes && w.resumed == 0:
		w.resumed = r.engine.now()
		w.startLimit()
	case !goes && w.resumed != 0:
		r.spent = r.elapsed()
		w.resumed = 0
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
		if w.work == w && w.resumed != 0 {
			w.run.Stop(generators.ErrTimeLimit)
		}
	})
}
