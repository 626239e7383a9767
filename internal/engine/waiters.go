package engine

import "slices"

// A Waiter waits for a run's next entry without a goroutine; see
// [Engine.AddWaiter].
type Waiter interface {
	// Wake is called once, when there is an entry or the run has been deleted. The
	// engine holds locks: Wake must return quickly and must not call the engine.
	Wake()
}

// AddWaiter wakes w once the run has an entry after an ordinal. If the run already
// has one, AddWaiter returns true and doesn't add w. A waiter follows a waiting
// run without a goroutine. The error is [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) AddWaiter(caller Caller, id string, after uint64, w Waiter) (hasEntry bool, err error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.index.lookup(id) != r:
		return false, ErrRunNotFound // deleted in the meantime
	case r.lastSeq > after:
		return true, nil
	}
	r.addWaiter(w)
	return false, nil
}

// RemoveWaiter removes a waiter that [Engine.AddWaiter] has added. Wake may still be
// called concurrently.
func (e *Engine) RemoveWaiter(id string, w Waiter) {
	r := e.index.lookup(id)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiters, w); i >= 0 {
		r.waiters = slices.Delete(r.waiters, i, i+1)
		e.counters.followers.Add(-1)
	}
}

// addWaiter adds a waiter for the next entry. Callers hold mu.
func (r *trackedRun) addWaiter(w Waiter) {
	r.waiters = append(r.waiters, w)
	r.engine.counters.followers.Add(1)
}

// wakeWaiters wakes and removes all waiters. Callers hold mu.
func (r *trackedRun) wakeWaiters() {
	for _, w := range r.waiters {
		w.Wake()
	}
	r.engine.counters.followers.Add(-int64(len(r.waiters)))
	r.waiters = nil
}
