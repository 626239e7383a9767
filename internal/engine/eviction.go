package engine

import (
	"container/list"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A durable run that waits or sleeps need not be in memory, because its log has all that
// it did. It is resident while its generator waits in this process. Evicting it stops
// the generator; settling one of its questions, or the end of a sleep, resumes it.

// An evictionQueue has the runs that could be evicted. In each list, the one that has
// waited longest is first.
type evictionQueue struct {
	mu   sync.Mutex
	runs list.List     // of *evictableRun: evicted after a while, or if there are too many
	soon list.List     // of *evictableRun: evicted as soon as they are idle
	wake chan struct{} // has a token if runs are to be evicted now or soon
}

// An evictableRun is a run that could be evicted.
type evictableRun struct {
	*trackedRun
	queue      *list.List // the list that it is in
	lastActive time.Time  // when its last entry was applied
	// idleAfter is how long after that it may still be working although it waits: it may
	// report progress in the meantime.
	idleAfter time.Duration
}

func (i *evictableRun) isRecentlyActive(now time.Time) bool {
	return now.Sub(i.lastActive) < i.idleAfter
}

// isEvictable reports whether the run's generator could be evicted, as far as its
// calls show: it waits for answers or sleeps, no step is running, whose effect would be
// repeated, and a replay has reached every open question and sleep. Only evict checks
// whether goroutines of the generator are working. Callers hold mu.
func (r *trackedRun) isEvictable() bool {
	w := r.worker
	if w == nil || r.State != Waiting && r.State != Sleeping || !r.Start.Durable {
		return false
	}
	if len(w.runningSteps) > 0 || w.stalledCount > 0 {
		return false
	}
	return len(w.calls) == len(r.Asks)+len(r.Sleeps)
}

// idleAfter returns how long after its last entry an evictable run may still be working.
// Callers hold mu.
func (r *trackedRun) idleAfter() time.Duration {
	concurrent, last := false, r.worker.calls[0]
	for _, c := range r.worker.calls {
		concurrent = concurrent || c.Concurrent
		if c.seq > last.seq {
			last = c
		}
	}
	switch {
	case concurrent: // it had started goroutines before it asked
		return concurrentIdleAfter
	case r.engine.limits.ReplayAlways && !last.More:
		return 0
	}
	return idleAfter
}

// updateEvictionQueue adds the run to the evictable ones or removes it, after a change
// of the run. Callers hold r.mu.
func (r *trackedRun) updateEvictionQueue() {
	q := &r.engine.evictionQueue
	evictable := r.isEvictable()
	if !evictable && r.evictionElem == nil {
		return
	}
	queue := &q.runs
	if r.engine.limits.ReplayAlways || r.sleepsLong() {
		queue = &q.soon
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	active := q.remove(r) // while it waited
	if !evictable {
		return
	}
	i := &evictableRun{r, queue, time.Now(), r.idleAfter()}
	if active {
		i.idleAfter = concurrentIdleAfter
	}
	r.evictionElem = queue.PushBack(i)
	if queue == &q.soon || q.runs.Len() > r.engine.limits.MaxResident {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
}

// remove removes a run, if it is there, and reports whether it was. Callers hold both
// mutexes.
func (q *evictionQueue) remove(r *trackedRun) bool {
	if r.evictionElem == nil {
		return false
	}
	r.evictionElem.Value.(*evictableRun).queue.Remove(r.evictionElem)
	r.evictionElem = nil
	return true
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
		case <-e.evictionQueue.wake:
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

// selectRuns returns the runs to evict: those of q.soon that are idle, those that have
// waited for maxWait and, if more than maxRuns remain, those that have waited longest.
// more reports whether others are to be evicted soon, which may still be working.
func (q *evictionQueue) selectRuns(now time.Time, maxRuns int, maxWait time.Duration) (selected []*trackedRun, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := q.soon.Front(); e != nil; e = e.Next() {
		r := e.Value.(*evictableRun)
		if r.isRecentlyActive(now) {
			more = true
			continue
		}
		selected = append(selected, r.trackedRun)
	}
	maxRuns -= len(selected)
	for e := q.runs.Front(); e != nil; e = e.Next() {
		r := e.Value.(*evictableRun)
		waited := now.Sub(r.lastActive)
		tooMany := q.runs.Len()-len(selected) > maxRuns
		if waited < maxWait && (!tooMany || r.isRecentlyActive(now)) {
			return selected, more || tooMany
		}
		selected = append(selected, r.trackedRun)
	}
	return selected, more
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
	w.batch.discard()
	r.worker = nil
	r.updateEvictionQueue()
	w.generator.Stop(generators.ErrSuspended)
}
