package engine

import (
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/evict"
)

// isEvictable reports whether the generator could be evicted, as far as its calls show: it waits
// for answers or sleeps, no step is running, whose effect would be repeated, and a replay has
// reached every open question and sleep. Only Evict checks whether goroutines of the generator
// are working.
func (w *worker) isEvictable() bool {
	return w != nil && w.Start.Durable && (w.State == Waiting || w.State == Sleeping) && len(w.runningSteps) == 0 && w.stalledCount == 0 &&
		len(w.calls) == len(w.Asks)+len(w.Sleeps)
}

// minEvictedSleep is the shortest rest of a sleep for which a run is evicted: for less,
// a replay isn't worth the memory.
const minEvictedSleep = time.Second

// idleness returns since when an evictable run waits.
func (w *worker) idleness() evict.Idleness {
	now, always := time.Now(), w.core.limits.ReplayAlways
	i := evict.Idleness{Since: now, After: evict.IdleAfter, Soon: always || w.State == Sleeping && nextWake(&w.Run).Sub(now) >= minEvictedSleep}
	last := slices.MaxFunc(w.calls, func(a, b *waitingCall) int { return int(a.seq) - int(b.seq) })
	switch {
	case slices.ContainsFunc(w.calls, func(c *waitingCall) bool { return c.Concurrent }): // it had started goroutines before it asked
		i.After = evict.ConcurrentIdleAfter
	case always && !last.More:
		i.After = 0
	}
	return i
}

// updateEviction adds the run to the evictor or removes it, after a change of the run.
func (r *trackedRun) updateEviction() {
	was := r.evictable
	if r.evictable = r.worker.isEvictable(); r.evictable {
		r.core.evictor.Add(r, r.worker.idleness())
	} else if was {
		r.core.evictor.Remove(r)
	}
}

// Evict suspends the run's generator and frees its memory, unless the run has become active since
// it was due. It takes mu.
func (r *trackedRun) Evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// The run may have been answered since, or have events in its batch. With an empty batch there
	// is nothing to append here.
	if !w.isEvictable() || !r.core.evictor.IsIdle(r, time.Now()) || len(w.batch.entries) > 0 {
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
