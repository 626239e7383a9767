package run

import (
	"context"
	"iter"
	"slices"

	"github.com/photon-beam/beam/internal/log"
)

// A Waiter waits for what follows in a run's log, without a goroutine that
// waits. It is told once, by one of its three methods; see [Engine.When].
type Waiter interface {
	// Skips tells whether an entry is none that the waiter wants to be told of:
	// it goes on waiting. The engine's locks are held: it must return soon and
	// must not call the engine.
	Skips(log.Entry) bool
	// Wake tells that there is an entry. What holds for Skips holds here.
	Wake()
	// Tell tells the same where there is time for it: on the generator's own
	// goroutine, under no lock, and with the entries that it has just written.
	// Until it returns, the tool stands still.
	Tell([]log.Entry)
}

// When has w told as soon as the run has an entry after an ordinal, unless it
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

// Unwait takes back what [Engine.When] was called for. The waiter may be told at
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

// await has w told of the next entry. Callers hold mu.
func (r *record) await(w Waiter) {
	r.when = append(r.when, w)
	r.engine.tally.followers.Add(1)
}

// wake tells who waits for another entry; the generator's own goroutine does so
// when it has let go of mu. Callers hold mu.
func (r *record) wake(e log.Entry) {
	still := r.when[:0]
	for _, w := range r.when {
		switch {
		case w.Skips(e):
			still = append(still, w)
		case r.within:
			r.turn = r.turn.with(w)
		default:
			w.Wake()
		}
	}
	r.engine.tally.followers.Add(int64(len(still) - len(r.when)))
	clear(r.when[len(still):])
	r.when = still
	if r.turn != nil {
		r.turn.wrote = append(r.turn.wrote, e)
	}
}

// A turn is what the generator's own goroutine, at work on its record, will tell
// those who wait for what it writes, when it has let go of mu.
type turn struct {
	tell  []Waiter
	one   [1]Waiter   // of tell, if it is no more
	wrote []log.Entry // since there is somebody to tell
}

// with adds to a turn, which may be nil yet.
func (t *turn) with(w Waiter) *turn {
	if t == nil {
		t = &turn{}
		t.tell = t.one[:0]
	}
	t.tell = append(t.tell, w)
	return t
}

// enter locks the record for an event of the generator's own.
func (w *worker) enter() {
	w.mu.Lock()
	w.within = true
}

// leave lets go of the record and tells who waits.
func (w *worker) leave() {
	t := w.turn
	w.turn, w.within = nil, false
	w.mu.Unlock()
	if t == nil {
		return
	}
	for _, waiter := range t.tell {
		waiter.Tell(t.wrote)
	}
}

// ReadAfter yields the entries after an ordinal that are there now.
func (e *Engine) ReadAfter(ctx context.Context, who Caller, id string, after uint64) (iter.Seq2[[]log.Entry, error], error) {
	r, err := e.find(who, id)
	if err != nil {
		return nil, err
	}
	return r.read(e.log.Read(ctx, id, after), 0), nil
}
