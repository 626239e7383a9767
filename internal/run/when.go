package run

import (
	"context"
	"iter"

	"github.com/photon-beam/beam/internal/log"
)

// When has f called once as soon as the run has an entry after an ordinal: at
// once, if it has one. It is how to follow a run that waits without a goroutine
// that waits, too. Whoever appends calls f, or deletes the run: it must return
// soon and must not call the engine. The error is ErrNotFound or ErrForbidden.
func (e *Engine) When(who Caller, id string, after uint64, f func()) error {
	r, err := e.find(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	there := r.last > after
	if !there {
		r.when = append(r.when, f)
		e.tally.followers.Add(1)
	}
	r.mu.Unlock()
	if there {
		f()
	}
	return nil
}

// wake calls who waits for another entry. Callers hold mu.
func (r *record) wake() {
	r.engine.tally.followers.Add(-int64(len(r.when)))
	for _, f := range r.when {
		f()
	}
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
