package engine

import "slices"

// beginPause notes that the generator waits for something that no entry tells of, and wakes who
// follows the run, again when it ends; see package runpause.
func (w *worker) beginPause(reason string) (end func()) {
	w.changePauses(func() { w.pauses = append(w.pauses, &reason) })
	return func() {
		w.changePauses(func() {
			w.pauses = slices.DeleteFunc(w.pauses, func(p *string) bool { return p == &reason })
		})
	}
}

func (w *worker) changePauses(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	if w.worker == w {
		w.core.watchers.Notify(w.owner())
		w.wakeWaiters()
	}
}
