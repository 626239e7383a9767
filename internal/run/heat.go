package run

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// A durable run that waits need not be in memory: its log has all that it did.
// It is hot while its generator waits here, and cold once that was let go. What
// settles one of its questions brings it back.

// heat knows the runs that could be let go, longest waiting first.
type heat struct {
	mu      sync.Mutex
	waiting list.List     // of *record
	over    chan struct{} // has a token when there are too many
}

// warmed notes how a run stands now: whether its generator waits here for an
// answer. Callers hold the record's mu.
func (r *record) warmed() {
	h := &r.engine.heat
	hot := r.work != nil && r.state == Waiting && r.started.Durable && !r.engine.ephemeral
	if !hot && r.warmth == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case hot && r.warmth == nil:
		r.warmth = h.waiting.PushBack(r)
	case hot:
		h.waiting.MoveToBack(r.warmth)
	default:
		h.waiting.Remove(r.warmth)
		r.warmth = nil
	}
	r.touched = time.Now()
	if h.waiting.Len() > r.engine.limits.HotMax {
		select {
		case h.over <- struct{}{}:
		default:
		}
	}
}

// busy is how long after its last entry a run counts as working, though it has
// a question open: it may tell its progress meanwhile.
const busy = time.Second

// cool lets go of runs that wait for long, or that are too many, until the
// engine closes.
func (e *Engine) cool() {
	t := time.NewTicker(min(max(e.limits.HotFor/4, busy), time.Minute))
	defer t.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-t.C:
		case <-e.heat.over:
		}
		for _, r := range e.heat.idle(e.limits.HotMax, e.limits.HotFor) {
			r.cool()
		}
	}
}

// idle are the runs to let go: those that have waited for long, and the longest
// waiting of those that are too many.
func (h *heat) idle(most int, long time.Duration) []*record {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	var found []*record
	for e := h.waiting.Front(); e != nil; e = e.Next() {
		r := e.Value.(*record)
		waited := now.Sub(r.touched)
		if waited < long && (h.waiting.Len()-len(found) <= most || waited < busy) {
			break
		}
		found = append(found, r)
	}
	return found
}

// cool lets a run's generator go.
func (r *record) cool() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.work
	if w == nil || r.state != Waiting {
		return
	}
	if err := r.flush(context.WithoutCancel(r.engine.ctx)); err != nil {
		r.engine.logger.Error("letting go of a run", "run", r.id, "err", err)
		return
	}
	r.spent = r.elapsed()
	for _, a := range r.asks {
		a.call = nil // its deadline goes on
	}
	w.batch.stop()
	r.work = nil
	r.warmed()
	w.run.Stop(generators.ErrSuspended)
}

// wanted tells whether a run without a generator has something to go on with.
// Callers hold mu.
func (r *record) wanted() bool {
	return r.work == nil && !r.waking && r.started.Durable && !r.engine.ephemeral && !r.state.Ended() && r.photon != nil
}

// warm takes a run up again from its log.
func (r *record) warm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waking = false
	select {
	case <-r.engine.closing:
		return // the next process takes it up
	default:
	}
	if !r.wanted() {
		return
	}
	ctx := r.engine.ctx
	h := &history{calls: make(map[string]*pastCall)}
	err := r.replay(ctx, h)
	if err == nil {
		err = r.resume(ctx, h)
	}
	if err != nil && ctx.Err() == nil {
		r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
		r.end(log.Finished{Status: log.Interrupted, Error: "Beam could not read what this run had done"})
	}
}

// replay reads what the run did.
func (r *record) replay(ctx context.Context, h *history) error {
	for batch, err := range r.engine.log.Read(ctx, r.id, 0) {
		if err != nil {
			return err
		}
		for _, entry := range batch {
			if entry, err = r.engine.hydrate(r.id, entry); err != nil {
				return err
			}
			if err := h.taken(entry); err != nil {
				return err
			}
		}
	}
	return nil
}
