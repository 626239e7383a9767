package engine

import (
	"slices"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// exclusiveRuns has the unfinished runs of photons with generators.Options.Exclusive. Of
// those with the same key, the first may work, and the others are queued in the order
// in which they joined. Its methods may be called from several goroutines.
type exclusiveRuns struct {
	mu    sync.Mutex
	byKey map[exclusiveKey][]*trackedRun
	// paused means that no run follows one that leaves, because the runs in the log are
	// still being recovered.
	paused bool
}

type exclusiveKey struct{ photon, key string }

func (r *trackedRun) exclusiveKey() exclusiveKey {
	return exclusiveKey{r.Start.Photon, r.Start.Exclusive}
}

// join adds a run with a key to the end of its queue. It reports whether the run is the
// first there. A run without a key always is.
func (x *exclusiveRuns) join(r *trackedRun) (first bool) {
	if r.Start.Exclusive == "" {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := r.exclusiveKey()
	x.byKey[k] = append(x.byKey[k], r)
	return len(x.byKey[k]) == 1
}

// leave removes a run, which has ended, and lets the next one of its queue start.
func (x *exclusiveRuns) leave(r *trackedRun) {
	if r.Start.Exclusive == "" {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := r.exclusiveKey()
	queue := x.byKey[k]
	i := slices.Index(queue, r)
	if i < 0 {
		return
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) == 0 {
		delete(x.byKey, k)
		return
	}
	if x.byKey[k] = queue; i == 0 && !x.paused {
		queue[0].engine.resumes.pending.add(queue[0].startIfFirst)
	}
}

// releaseKey lets the next run with the key start if this one has ended, and its generator
// has returned: one that was stopped may still be in a step, or clean up. Callers hold mu.
func (r *trackedRun) releaseKey() {
	if r.State.Ended() && r.drivers == 0 {
		r.engine.exclusive.leave(r)
	}
}

// isFirst reports whether a run is the first of its queue.
func (x *exclusiveRuns) isFirst(r *trackedRun) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	queue := x.byKey[r.exclusiveKey()]
	return len(queue) > 0 && queue[0] == r
}

// load adds the unfinished runs that were read from the log, in the order of their start.
// Those that have begun precede the others. It pauses the queues.
func (x *exclusiveRuns) load(runs []*trackedRun) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r *trackedRun) bool { return r.State.Ended() || r.Start.Exclusive == "" })
	slices.SortStableFunc(runs, func(a, b *trackedRun) int { return a.StartedAt.Compare(b.StartedAt) })
	for _, queued := range []bool{false, true} {
		for _, r := range runs {
			if r.Queued == queued {
				x.join(r)
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.paused = true
}

// resume lets the first runs of all queues start.
func (x *exclusiveRuns) resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.paused = false
	for _, queue := range x.byKey {
		queue[0].engine.resumes.pending.add(queue[0].startIfFirst)
	}
}

// startIfFirst starts a queued run whose turn it is.
func (r *trackedRun) startIfFirst() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Queued && r.canResume() {
		r.queueResume()
	}
}

// setInactive notes that the run waits for another one with its key, which doesn't count as
// working, or that its turn has come. Callers hold mu.
func (r *trackedRun) setInactive(inactive bool) {
	switch {
	case r.loading:
		r.inactive = inactive
	case inactive:
		r.engine.index.markInactive(r)
	default:
		r.engine.index.markActive(r)
	}
}

// interruption says why the end of the process interrupts the run: what happened to
// Beam, while the run was running or before.
func (r *trackedRun) interruption(happened string) runlog.Finished {
	when := "while this was running"
	if r.Queued {
		when = "before this began"
	}
	return runlog.Finished{Status: runlog.Interrupted, Error: "Beam was " + happened + " " + when}
}
