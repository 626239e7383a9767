package engine

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// burstFactor is how many times KeepAll finished runs may be kept within KeepLeast.
const burstFactor = 10

// enforceRetention deletes finished runs that are too many or too old, until the engine
// closes. It looks now and then and not when a run ends: no run is too many
// before KeepLeast has passed, unless runs end in a rush. So what memory holds
// beyond KeepFinished is what ended within KeepLeast and a quarter of it, or is
// promised to be kept, at most rush times KeepAll, and what somebody reads.
func (e *Engine) enforceRetention() {
	tick := time.NewTicker(min(max(e.limits.RetainAtLeast/4, time.Second), time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-tick.C:
		}
		e.deleteOldRuns()
	}
}

// MaxRetention bounds the time that a run can be promised to be kept; see
// [StartRequest.RetainFor] and [Engine.RetainAfterEnd].
const MaxRetention = time.Hour

// RetainAfterEnd has a run kept for so long after its end, at most [MaxRetention], however
// many others end: somebody was given its id and comes back for the result. The
// log doesn't have it: after a restart it is to be promised again. The error is
// ErrNotFound or ErrForbidden.
func (e *Engine) RetainAfterEnd(who Caller, id string, after time.Duration) error {
	r, err := e.findRun(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.poll == nil {
		r.poll = &pollInfo{stateChangedAt: time.Now()}
	}
	r.poll.retainFromEnd = max(r.poll.retainFromEnd, min(after, MaxRetention))
	return nil
}

type finishedRun struct {
	*trackedRun
	endTime     time.Time
	retainUntil time.Time // it is kept at least
}

func (e *Engine) deleteOldRuns() {
	if !e.deleteLock.TryLock() {
		return // the next look comes soon
	}
	defer e.deleteLock.Unlock()
	var done []finishedRun
	for _, r := range e.index.endedRuns() {
		at, until := r.retention()
		done = append(done, finishedRun{r, at, until})
	}
	slices.SortFunc(done, func(a, b finishedRun) int { return b.endTime.Compare(a.endTime) })
	now := time.Now()
	kept := make(map[string]int) // by owner: nobody's runs push out another's
	var bytes int64
	for i, r := range done {
		kept[r.owner()]++
		age := now.Sub(r.endTime)
		// Who started the run may still be about to read how it ended.
		bytes += e.sizeIfLimited(r.trackedRun)
		tooMany := kept[r.owner()] > e.limits.MaxFinishedPerOwner || i >= e.limits.MaxFinished || bytes > e.limits.MaxFinishedBytes && e.limits.MaxFinishedBytes > 0
		tooMany = tooMany && !now.Before(r.retainUntil) || i >= burstFactor*e.limits.MaxFinished
		if (tooMany || age > e.limits.RetainFor) && r.readerCount.Load() == 0 {
			if err := e.deleteRun(r.trackedRun); err != nil {
				e.logger.Error("deleting runs", "err", err)
				return // the next look comes soon
			}
		}
	}
}

// sizeIfLimited is a run's size, if it matters.
func (e *Engine) sizeIfLimited(r *trackedRun) int64 {
	if e.limits.MaxFinishedBytes <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size, err := r.storedBytes()
	if err != nil {
		e.logger.Error("looking how much a run takes", "run", r.id, "err", err)
	}
	return size
}

// deleteRun forgets a finished run, its log and its files. With its log, all of it
// stays.
func (e *Engine) deleteRun(r *trackedRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		return fmt.Errorf("deleting the log of run %s: %w", r.id, err)
	}
	e.index.removeRun(r)
	r.wakeWaiters() // whoever waits for another entry finds the run gone
	if err := e.blobs.DeleteRun(r.id); err != nil {
		e.logger.Error("deleting a run's files", "run", r.id, "err", err)
	}
	return nil
}

// retention is when the run ended, and until when it is kept at least.
func (r *trackedRun) retention() (at, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endedAt, r.retainedUntil()
}

// retainedUntil is what [Info.RetainedUntil] says of a run that has ended. Callers hold
// mu.
func (r *trackedRun) retainedUntil() time.Time {
	least := r.endedAt.Add(r.engine.limits.RetainAtLeast)
	if r.poll != nil {
		least = r.endedAt.Add(max(r.engine.limits.RetainAtLeast, r.poll.retainFromEnd))
		if promised := r.startedAt.Add(r.poll.retainFromStart); promised.After(least) {
			least = promised
		}
	}
	if most := r.endedAt.Add(r.engine.limits.RetainFor); least.After(most) {
		return most
	}
	return least
}
