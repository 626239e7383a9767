package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// A durable run that waits need not be in memory: its log has all that it did.
// It is hot while its generator waits here, and cold once that was let go. What
// settles one of its questions brings it back.

// residency knows the runs that could be let go, longest waiting first.
type residency struct {
	mu        sync.Mutex
	evictable list.List     // of *idler
	overLimit chan struct{} // has a token when there are too many
}

// A residentRun is a run that could be let go.
type residentRun struct {
	*trackedRun
	lastActive time.Time // when it last did something
	wasActive  bool      // it has goroutines, or did something while it waited
}

// isRecentlyActive tells whether a run counts as working, though it has a question open: it
// may tell its progress meanwhile.
func (i *residentRun) isRecentlyActive(now time.Time) bool {
	waited := now.Sub(i.lastActive)
	return waited < idleAfter || i.wasActive && waited < concurrentIdleAfter
}

// isEvictable tells whether a run's generator waits here for answers, as far as its
// calls tell, and could be let go: it has no step in hand, whose effect would
// be repeated, and has come to every open question, in a replay too. Whether
// goroutines of it work beside the open questions is seen when it is to be let
// go. Callers hold mu.
func (r *trackedRun) isEvictable() bool {
	if r.worker == nil || r.state != Waiting || len(r.worker.runningSteps) > 0 || r.worker.stalledCount > 0 || !r.started.Durable || r.engine.ephemeral {
		return false
	}
	for _, a := range r.openAsks {
		if a.call == nil {
			return false
		}
	}
	return true
}

// hasConcurrentAsk tells whether a run that is hot had started goroutines before it
// asked what is open. Callers hold mu.
func (r *trackedRun) hasConcurrentAsk() bool {
	return slices.ContainsFunc(r.openAsks, func(a *openAsk) bool { return a.call.Concurrent })
}

// updateResidency notes how a run stands now. Callers hold the record's mu.
func (r *trackedRun) updateResidency() {
	h := &r.engine.residency
	hot := r.isEvictable()
	if !hot && r.residencyElem == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case hot && r.residencyElem == nil:
		r.residencyElem = h.evictable.PushBack(&residentRun{r, time.Now(), r.hasConcurrentAsk()})
	case hot:
		i := r.residencyElem.Value.(*residentRun)
		i.lastActive, i.wasActive = time.Now(), true
		h.evictable.MoveToBack(r.residencyElem)
	default:
		h.evictable.Remove(r.residencyElem)
		r.residencyElem = nil
	}
	if h.evictable.Len() > r.engine.limits.MaxResident {
		select {
		case h.overLimit <- struct{}{}:
		default:
		}
	}
}

// How long after its last entry a run that waits counts as working: one that is
// lively, and any.
const (
	concurrentIdleAfter = time.Second
	idleAfter           = 100 * time.Millisecond
)

// evictIdleRuns lets go of runs that wait for long, or that are too many, until the
// engine closes.
func (e *Engine) evictIdleRuns() {
	t := time.NewTicker(min(max(e.limits.ResidentFor/4, concurrentIdleAfter), time.Minute))
	defer t.Stop()
	soon := time.NewTimer(idleAfter)
	defer soon.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-t.C:
		case <-soon.C:
		case <-e.residency.overLimit:
		}
		idle, more := e.residency.selectEvictable(time.Now(), e.limits.MaxResident, e.limits.ResidentFor)
		if more {
			soon.Reset(idleAfter)
		}
		for _, r := range idle {
			r.evict()
		}
	}
}

// selectEvictable are the runs to let go: those that have waited for long, and the longest
// waiting of those that are too many. There are more if some of these may be
// working still.
func (h *residency) selectEvictable(now time.Time, most int, long time.Duration) (found []*trackedRun, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.evictable.Front(); e != nil; e = e.Next() {
		r := e.Value.(*residentRun)
		waited := now.Sub(r.lastActive)
		many := h.evictable.Len()-len(found) > most
		if waited < long && (!many || r.isRecentlyActive(now)) {
			return found, many
		}
		found = append(found, r.trackedRun)
	}
	return found, false
}

// evict lets a run's generator go.
func (r *trackedRun) evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// It may have been answered since it was found idle, or have told something,
	// which waits in its batch. So there is nothing to append here, and nothing
	// that another process wrote is come upon.
	if !r.isEvictable() || r.residencyElem.Value.(*residentRun).isRecentlyActive(time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.generator.Working() { // in silence, and only an answer would bring that back
		r.updateResidency()
		return
	}
	r.timeSpent = r.elapsedTime()
	for _, a := range r.openAsks {
		a.call, a.callIsCurrent = nil, false // its deadline goes on
	}
	w.batch.discard()
	r.worker = nil
	r.updateResidency()
	w.generator.Stop(generators.ErrSuspended)
	if l, ok := r.engine.log.(runlog.CacheEvictor); ok {
		l.EvictCached(r.id)
	}
}

// canResume tells whether a run without a generator has something to go on with.
// Callers hold mu.
func (r *trackedRun) canResume() bool {
	return r.worker == nil && !r.resuming && !r.endPending && r.started.Durable && !r.engine.ephemeral && !r.state.Ended() && r.photon != nil
}

// tryResume tries to take a run up again. After an error, it is still waking.
func (r *trackedRun) tryResume() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resuming = false
	if !r.canResume() {
		return nil
	}
	if r.engine.acceptCtx.Err() != nil {
		r.engine.index.markInactive(r)
		return nil
	}
	r.resuming = true
	defer func() { r.resuming = err != nil }()
	ctx := r.engine.acceptCtx                             // a read that hangs must not keep the engine from closing
	if err := r.resolveUncertainAppend(ctx); err != nil { // its own claim may be what came last
		return err
	}
	h, err := r.readHistory(ctx)
	if err == nil {
		err = r.claimAndReplay(ctx, h)
	}
	if !isUnrecoverable(err) {
		return err
	}
	r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
	return r.endRun(runlog.Finished{Status: runlog.Interrupted, Error: "Beam could not read what this run had done"})
}

// An unreadableLogError is a log that was read and makes no sense.
type unreadableLogError struct{ error }

func (e unreadableLogError) Unwrap() error { return e.error }

// isUnrecoverable tells whether what a run did is gone for good.
func isUnrecoverable(err error) bool {
	var broken unreadableLogError
	return errors.As(err, &broken) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, runlog.ErrNotFound)
}

// readHistory reads what the run did.
func (r *trackedRun) readHistory(ctx context.Context) (*history, error) {
	h := newHistory()
	last := uint64(0)
	for batch, err := range r.engine.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = r.engine.loadSpilledData(r.id, entry); err != nil {
				return nil, err
			}
			if err := h.addEntry(entry); err != nil {
				return nil, unreadableLogError{err}
			}
		}
	}
	if last < r.lastSeq {
		return nil, fmt.Errorf("the log was read up to entry %d, and there are %d", last, r.lastSeq)
	}
	return h, nil
}
