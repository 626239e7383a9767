package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// A Waiter waits for what follows in a run's log, without a goroutine that
// waits; see [Engine.AddWaiter].
type Waiter interface {
	// Wake says that there is an entry, once. The engine's locks are held: it must
	// return soon and must not call the engine.
	Wake()
}

// AddWaiter wakes w as soon as the run has an entry after an ordinal, unless it
// has one already: then there is true. It is how to follow a run that waits
// without a goroutine that waits, too. The error is ErrNotFound or ErrForbidden.
func (e *Engine) AddWaiter(who Caller, id string, after uint64, w Waiter) (there bool, err error) {
	r, err := e.findRun(who, id)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.index.lookup(id) != r:
		return false, ErrRunNotFound // deleted just now
	case r.lastSeq > after:
		return true, nil
	}
	r.addWaiter(w)
	return false, nil
}

// RemoveWaiter takes back what [Engine.AddWaiter] was called for. The waiter may be woken at
// this very moment.
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

// addWaiter has w woken at the next entry. Callers hold mu.
func (r *trackedRun) addWaiter(w Waiter) {
	r.waiters = append(r.waiters, w)
	r.engine.counters.followers.Add(1)
}

// wakeWaiters wakes who waits for another entry. Callers hold mu.
func (r *trackedRun) wakeWaiters() {
	for _, w := range r.waiters {
		w.Wake()
	}
	r.engine.counters.followers.Add(-int64(len(r.waiters)))
	r.waiters = nil
}

// ReadAfter yields the entries after an ordinal that are there now.
func (e *Engine) ReadAfter(ctx context.Context, who Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := e.findRun(who, id)
	if err != nil {
		return nil, err
	}
	return r.readEntries(e.log.Read(ctx, id, after), 0), nil
}
