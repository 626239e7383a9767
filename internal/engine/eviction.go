package engine

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A durable run that waits need not be in memory, because its log has all that it
// did. It is resident while its generator waits in this process. Evicting it stops
// the generator; settling one of its questions resumes it.

// An evictionQueue has the runs that could be evicted, the one that has waited longest
// first.
type evictionQueue struct {
	mu        sync.Mutex
	runs      list.List     // of *evictableRun
	overLimit chan struct{} // has a token if there are too many
}

// An evictableRun is a run that could be evicted.
type evictableRun struct {
	*trackedRun
	lastActive time.Time // when its last entry was applied
	wasActive  bool      // it has goroutines, or was active while it waited
}

// isRecentlyActive reports whether a run may still be working although it waits for
// an answer: it may report progress in the meantime.
func (i *evictableRun) isRecentlyActive(now time.Time) bool {
	waited := now.Sub(i.lastActive)
	return waited < idleAfter || i.wasActive && waited < concurrentIdleAfter
}

// isEvictable reports whether the run's generator could be evicted, as far as its
// calls show: it waits for answers, no step is running, whose effect would be
// repeated, and a replay has reached every open question. Only evict checks
// whether goroutines of the generator are working. Callers hold mu.
func (r *trackedRun) isEvictable() bool {
	w := r.worker
	if w == nil || r.state != Waiting || !r.started.Durable || r.engine.ephemeral {
		return false
	}
	if len(w.runningSteps) > 0 || w.stalledCount > 0 {
		return false
	}
	for _, a := range r.openAsks {
		if a.call == nil {
			return false
		}
	}
	return true
}

// hasConcurrentAsk reports whether an evictable run had started goroutines before it
// asked an open question. Callers hold mu.
func (r *trackedRun) hasConcurrentAsk() bool {
	return slices.ContainsFunc(r.openAsks, func(a *openAsk) bool { return a.call.Concurrent })
}

// updateEvictionQueue adds the run to the evictable ones or removes it, after a change
// of the run. Callers hold r.mu.
func (r *trackedRun) updateEvictionQueue() {
	q := &r.engine.evictionQueue
	evictable := r.isEvictable()
	if !evictable && r.evictionElem == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case evictable && r.evictionElem == nil:
		r.evictionElem = q.runs.PushBack(&evictableRun{r, time.Now(), r.hasConcurrentAsk()})
	case evictable:
		i := r.evictionElem.Value.(*evictableRun)
		i.lastActive, i.wasActive = time.Now(), true
		q.runs.MoveToBack(r.evictionElem)
	default:
		q.runs.Remove(r.evictionElem)
		r.evictionElem = nil
	}
	if q.runs.Len() > r.engine.limits.MaxResident {
		select {
		case q.overLimit <- struct{}{}:
		default:
		}
	}
}

// A waiting run counts as working for idleAfter after its last entry, or for
// concurrentIdleAfter if it was active while it waited.
const (
	concurrentIdleAfter = time.Second
	idleAfter           = 100 * time.Millisecond
)

// evictIdleRuns evicts runs that have waited for long, or of which there are too
// many, until the engine closes.
func (e *Engine) evictIdleRuns() {
	t := time.NewTicker(min(max(e.limits.EvictAfter/4, concurrentIdleAfter), time.Minute))
	defer t.Stop()
	soon := time.NewTimer(idleAfter)
	defer soon.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-t.C:
		case <-soon.C:
		case <-e.evictionQueue.overLimit:
		}
		idle, more := e.evictionQueue.selectRuns(time.Now(), e.limits.MaxResident, e.limits.EvictAfter)
		if more {
			soon.Reset(idleAfter)
		}
		for _, r := range idle {
			r.evict()
		}
	}
}

// selectRuns returns the runs to evict: those that have waited for maxWait and,
// if more than maxRuns remain, those that have waited longest. more reports
// whether there are still too many, because some may be working.
func (q *evictionQueue) selectRuns(now time.Time, maxRuns int, maxWait time.Duration) (selected []*trackedRun, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := q.runs.Front(); e != nil; e = e.Next() {
		r := e.Value.(*evictableRun)
		waited := now.Sub(r.lastActive)
		tooMany := q.runs.Len()-len(selected) > maxRuns
		if waited < maxWait && (!tooMany || r.isRecentlyActive(now)) {
			return selected, tooMany
		}
		selected = append(selected, r.trackedRun)
	}
	return selected, false
}

// evict suspends the run's generator and frees its memory, unless the run has become
// active since it was selected.
func (r *trackedRun) evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// The run may have been answered since it was selected, or have events in its
	// batch. With an empty batch there is nothing to append here.
	if !r.isEvictable() || r.evictionElem.Value.(*evictableRun).isRecentlyActive(time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.generator.Working() { // its work would be lost, as only an answer resumes the run
		r.updateEvictionQueue()
		return
	}
	r.timeSpent = r.elapsedTime()
	for _, a := range r.openAsks {
		a.call, a.callIsCurrent = nil, false // the deadline stays scheduled
	}
	w.batch.discard()
	r.worker = nil
	r.updateEvictionQueue()
	w.generator.Stop(generators.ErrSuspended)
	if l, ok := r.engine.log.(runlog.CacheEvictor); ok {
		l.EvictCached(r.id)
	}
}
