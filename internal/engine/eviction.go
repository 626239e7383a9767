package engine

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A durable run that waits or sleeps need not be in memory, because its log has all that
// it did. Evicting it stops the generator; settling one of its questions, or the end of a sleep,
// resumes it.

// An evictor finds the runs to evict among those that wait in memory. Its methods may be called
// from several goroutines.
type evictor struct {
	limits Limits
	wake   chan struct{} // has a token if runs are to be evicted now or soon

	mu      sync.Mutex // guards waiting
	waiting map[*trackedRun]idleness
}

// An idleness says since when a run could be evicted.
type idleness struct {
	since time.Time // when its last entry was applied
	// after is how long after that the run may still be working although it waits: it may report
	// progress in the meantime.
	after time.Duration
	soon  bool // it is evicted as soon as it is idle
}

// A waiting run counts as working for idleAfter after its last entry, or for
// concurrentIdleAfter if it was active while it waited.
const (
	concurrentIdleAfter = time.Second
	idleAfter           = 100 * time.Millisecond
)

func newEvictor(l Limits) *evictor {
	return &evictor{limits: l, wake: make(chan struct{}, 1), waiting: make(map[*trackedRun]idleness)}
}

// add adds a run that could be evicted, or notes that it was active.
func (x *evictor) add(r *trackedRun, i idleness) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, active := x.waiting[r]; active { // while it waited
		i.after = concurrentIdleAfter
	}
	x.waiting[r] = i
	if i.soon || len(x.waiting) == x.limits.MaxResident+1 { // otherwise run looks again anyway
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
}

func (x *evictor) remove(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.waiting, r)
}

// count returns the number of runs that could be evicted.
func (x *evictor) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.waiting)
}

// isIdle reports whether a run is in the evictor, and isn't working.
func (x *evictor) isIdle(r *trackedRun, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.waiting[r]
	return ok && now.Sub(i.since) >= i.after
}

// run evicts runs that have waited for long, or of which there are too many, until closing is
// closed.
func (x *evictor) run(closing <-chan struct{}) {
	regularly := min(max(x.limits.EvictAfter/4, concurrentIdleAfter), time.Minute)
	t := time.NewTimer(idleAfter)
	defer t.Stop()
	for {
		select {
		case <-closing:
			return
		case <-t.C:
		case <-x.wake:
		}
		due, more := x.due(time.Now())
		for _, r := range due {
			r.evict()
		}
		if more {
			t.Reset(idleAfter)
		} else {
			t.Reset(regularly)
		}
	}
}

// due returns the runs to evict, those first that have waited longest. more reports whether
// others are to be evicted soon, which may still be working.
func (x *evictor) due(now time.Time) (due []*trackedRun, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	oldest := slices.SortedFunc(maps.Keys(x.waiting), func(a, b *trackedRun) int { return x.waiting[a].since.Compare(x.waiting[b].since) })
	tooMany := len(oldest) - x.limits.MaxResident
	for _, r := range oldest {
		i := x.waiting[r]
		waited := now.Sub(i.since)
		switch {
		case !i.soon && tooMany <= 0 && waited < x.limits.EvictAfter: // it may stay
		case waited < i.after:
			more = true
		default:
			due = append(due, r)
			tooMany--
		}
	}
	return due, more
}

// isEvictable reports whether the generator could be evicted, as far as its
// calls show: it waits for answers or sleeps, no step is running, whose effect would be
// repeated, and a replay has reached every open question and sleep. Only evict checks
// whether goroutines of the generator are working. Callers hold mu.
func (w *worker) isEvictable() bool {
	return w != nil && w.Start.Durable && (w.State == Waiting || w.State == Sleeping) && len(w.runningSteps) == 0 && w.stalledCount == 0 &&
		len(w.calls) == len(w.Asks)+len(w.Sleeps)
}

// minEvictedSleep is the shortest rest of a sleep for which a run is evicted: for less,
// a replay isn't worth the memory.
const minEvictedSleep = time.Second

// idleness returns since when an evictable run waits. Callers hold mu.
func (w *worker) idleness() idleness {
	now, always := time.Now(), w.core.limits.ReplayAlways
	i := idleness{since: now, after: idleAfter, soon: always || w.State == Sleeping && nextWake(&w.Run).Sub(now) >= minEvictedSleep}
	last := slices.MaxFunc(w.calls, func(a, b *waitingCall) int { return int(a.seq) - int(b.seq) })
	switch {
	case slices.ContainsFunc(w.calls, func(c *waitingCall) bool { return c.Concurrent }): // it had started goroutines before it asked
		i.after = concurrentIdleAfter
	case always && !last.More:
		i.after = 0
	}
	return i
}

// updateEviction adds the run to the evictor or removes it, after a change of the run. Callers
// hold mu.
func (r *trackedRun) updateEviction() {
	was := r.evictable
	if r.evictable = r.worker.isEvictable(); r.evictable {
		r.core.evictor.add(r, r.worker.idleness())
	} else if was {
		r.core.evictor.remove(r)
	}
}

// evict suspends the run's generator and frees its memory, unless the run has become
// active since it was due.
func (r *trackedRun) evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// The run may have been answered since, or have events in its batch. With an empty batch there
	// is nothing to append here.
	if !w.isEvictable() || !r.core.evictor.isIdle(r, time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.generator.Working() { // its work would be lost, as only an answer resumes the run
		r.updateEviction()
		return
	}
	w.batch.discard()
	r.detachWorker()
	w.generator.Stop(generators.ErrSuspended)
}
