package run

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// A durable run that waits need not be in memory: its log has all that it did.
// It is hot while its generator waits here, and cold once that was let go. What
// settles one of its questions brings it back.

// heat knows the runs that could be let go, longest waiting first.
type heat struct {
	mu      sync.Mutex
	waiting list.List     // of *idler
	over    chan struct{} // has a token when there are too many
}

// An idler is a run that could be let go.
type idler struct {
	*record
	touched time.Time // when it last did something
	lively  bool      // it has goroutines, or did something while it waited
}

// busy tells whether a run counts as working, though it has a question open: it
// may tell its progress meanwhile.
func (i *idler) busy(now time.Time) bool {
	waited := now.Sub(i.touched)
	return waited < moved || i.lively && waited < busy
}

// hot tells whether a run's generator waits here for answers, as far as its
// calls tell, and could be let go: it has no step in hand, whose effect would
// be repeated, and has come to every open question, in a replay too. Whether
// goroutines of it work beside the open questions is seen when it is to be let
// go. Callers hold mu.
func (r *record) hot() bool {
	if r.work == nil || r.state != Waiting || len(r.work.steps) > 0 || r.work.still > 0 || !r.started.Durable || r.engine.ephemeral {
		return false
	}
	for _, a := range r.asks {
		if a.call == nil {
			return false
		}
	}
	return true
}

// concurrent tells whether a run that is hot had started goroutines before it
// asked what is open. Callers hold mu.
func (r *record) concurrent() bool {
	return slices.ContainsFunc(r.asks, func(a *openAsk) bool { return a.call.Concurrent })
}

// warmed notes how a run stands now. Callers hold the record's mu.
func (r *record) warmed() {
	h := &r.engine.heat
	hot := r.hot()
	if !hot && r.warmth == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case hot && r.warmth == nil:
		r.warmth = h.waiting.PushBack(&idler{r, time.Now(), r.concurrent()})
	case hot:
		i := r.warmth.Value.(*idler)
		i.touched, i.lively = time.Now(), true
		h.waiting.MoveToBack(r.warmth)
	default:
		h.waiting.Remove(r.warmth)
		r.warmth = nil
	}
	if h.waiting.Len() > r.engine.limits.HotMax {
		select {
		case h.over <- struct{}{}:
		default:
		}
	}
}

// How long after its last entry a run that waits counts as working: one that is
// lively, and any.
const (
	busy  = time.Second
	moved = 100 * time.Millisecond
)

// cool lets go of runs that wait for long, or that are too many, until the
// engine closes.
func (e *Engine) cool() {
	t := time.NewTicker(min(max(e.limits.HotFor/4, busy), time.Minute))
	defer t.Stop()
	soon := time.NewTimer(moved)
	defer soon.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-t.C:
		case <-soon.C:
		case <-e.heat.over:
		}
		idle, more := e.heat.idle(time.Now(), e.limits.HotMax, e.limits.HotFor)
		if more {
			soon.Reset(moved)
		}
		for _, r := range idle {
			r.cool()
		}
	}
}

// idle are the runs to let go: those that have waited for long, and the longest
// waiting of those that are too many. There are more if some of these may be
// working still.
func (h *heat) idle(now time.Time, most int, long time.Duration) (found []*record, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.waiting.Front(); e != nil; e = e.Next() {
		r := e.Value.(*idler)
		waited := now.Sub(r.touched)
		many := h.waiting.Len()-len(found) > most
		if waited < long && (!many || r.busy(now)) {
			return found, many
		}
		found = append(found, r.record)
	}
	return found, false
}

// cool lets a run's generator go.
func (r *record) cool() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.work
	// It may have been answered since it was found idle, or have told something,
	// which waits in its batch. So there is nothing to append here, and nothing
	// that another process wrote is come upon.
	if !r.hot() || r.warmth.Value.(*idler).busy(time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.run.Working() { // in silence, and only an answer would bring that back
		r.warmed()
		return
	}
	r.spent = r.elapsed()
	for _, a := range r.asks {
		a.call, a.live = nil, false // its deadline goes on
	}
	w.batch.stop()
	r.work = nil
	r.warmed()
	w.run.Stop(generators.ErrSuspended)
	if l, ok := r.engine.log.(log.Rester); ok {
		l.Rest(r.id)
	}
}

// wanted tells whether a run without a generator has something to go on with.
// Callers hold mu.
func (r *record) wanted() bool {
	return r.work == nil && !r.waking && !r.ending && r.started.Durable && !r.engine.ephemeral && !r.state.Ended() && r.photon != nil
}

// takeUp tries to take a run up again. After an error, it is still waking.
func (r *record) takeUp() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waking = false
	if !r.wanted() {
		return nil
	}
	if r.engine.taking.Err() != nil {
		r.engine.index.rest(r)
		return nil
	}
	r.waking = true
	defer func() { r.waking = err != nil }()
	ctx := r.engine.taking                 // a read that hangs must not keep the engine from closing
	if err := r.clarify(ctx); err != nil { // its own claim may be what came last
		return err
	}
	h, err := r.past(ctx)
	if err == nil {
		err = r.resume(ctx, h)
	}
	if !lost(err) {
		return err
	}
	r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
	return r.end(log.Finished{Status: log.Interrupted, Error: "Beam could not read what this run had done"})
}

// A lostError is a log that was read and makes no sense.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// lost tells whether what a run did is gone for good.
func lost(err error) bool {
	var broken lostError
	return errors.As(err, &broken) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, log.ErrNotFound)
}

// past reads what the run did.
func (r *record) past(ctx context.Context) (*history, error) {
	h := newHistory()
	last := uint64(0)
	for batch, err := range r.engine.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = r.engine.hydrate(r.id, entry); err != nil {
				return nil, err
			}
			if err := h.taken(entry); err != nil {
				return nil, lostError{err}
			}
		}
	}
	if last < r.last {
		return nil, fmt.Errorf("the log was read up to entry %d, and there are %d", last, r.last)
	}
	return h, nil
}
