package run

import (
	"context"
	"iter"
	"slices"

	"github.com/photon-beam/beam/internal/log"
)

// A Waiter waits for what follows in a run's log, without a goroutine that
// waits; see [Engine.When].
type Waiter interface {
	// Wake says that there is an entry, once. The engine's locks are held: it must
	// return soon and must not call the engine.
	Wake()
}

// When wakes w as soon as the run has an entry after an ordinal, unless it
// has one already: then there is true. It is how to follow a run that waits
// without a goroutine that waits, too. The error is ErrNotFound or ErrForbidden.
func (e *Engine) When(who Caller, id string, after uint64, w Waiter) (there bool, err error) {
	r, err := e.find(who, id)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.index.get(id) != r:
		return false, ErrNotFound // deleted just now
	case r.last > after:
		return true, nil
	}
	r.await(w)
	return false, nil
}

// Unwait takes back what [Engine.When] was called for. The waiter may be woken at
// this very moment.
func (e *Engine) Unwait(id string, w Waiter) {
	r := e.index.get(id)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.when, w); i >= 0 {
		r.when = slices.Delete(r.when, i, i+1)
		e.tally.followers.Add(-1)
	}
}

// await has w woken at the next entry. Callers hold mu.
func (r *record) await(w Waiter) {
	r.when = append(r.when, w)
	r.engine.tally.followers.Add(1)
}

// wake wakes who waits for another entry. Callers hold mu.
func (r *record) wake() {
	for _, w := range r.when {
		w.Wake()
	}
	r.engine.tally.followers.Add(-int64(len(r.when)))
	r.when = nil
}

// ReadAfter yields the entries after an ordinal that are there now.
func (e *Engine) ReadAfter(ctx context.Context, who Caller, id string, after uint64) (iter.Seq2[[]log.Entry, error], error) {
	r, err := e.find(who, id)
	if err != nil {
		return nil, err
	}
	return r.read(e.log.Read(ctx, id, after), 0), nil
}
