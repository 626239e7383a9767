package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
)

// burstFactor times Limits.MaxFinished is the number of finished runs above which even
// those within Limits.RetainAtLeast, or with a promised retention, are deleted.
const burstFactor = 10

// enforceRetention deletes finished runs that are too old, or of which there are too
// many, until the engine closes. It runs periodically rather than when a run ends,
// because runs are kept for Limits.RetainAtLeast in any case, except in a burst.
// The finished runs beyond the limits are therefore those that ended within
// RetainAtLeast and a quarter of it, those with a promised retention, at most
// burstFactor times MaxFinished in all, and those that are being read.
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

// MaxRetention bounds the retention that can be promised for a run; see
// [StartRequest.RetainFor] and [Engine.RetainAfterEnd].
const MaxRetention = time.Hour

// RetainAfterEnd keeps a run for a time after its end, at most [MaxRetention],
// however many other runs end: a client has the run's id and will come back for
// the result. The promise isn't recorded and ends with the process. The error is
// [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) RetainAfterEnd(caller generators.Caller, id string, after time.Duration) error {
	r, err := e.findRun(caller, id)
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

// Discard deletes a run that has ended, with its log and files, unless somebody reads it
// or a backup is in progress. It does nothing if there is no such run.
func (e *Engine) Discard(caller generators.Caller, id string) error {
	r, err := e.findRun(caller, id)
	if err != nil || !r.hasEnded() {
		return nil
	}
	end, err := e.deletions.begin()
	if err != nil {
		return nil
	}
	defer end()
	if r.readerCount.Load() > 0 {
		return nil
	}
	return e.deleteRun(r)
}

type finishedRun struct {
	*trackedRun
	endTime     time.Time
	retainUntil time.Time // at least
}

// deleteOldRuns deletes the finished runs that the limits don't allow to keep. If
// deletion is paused or fails, it returns, and the next call tries again.
func (e *Engine) deleteOldRuns() {
	end, err := e.deletions.begin()
	if err != nil {
		return
	}
	defer end()
	now := time.Now()
	countByOwner := make(map[string]int) // one owner's runs never displace another's
	var bytes int64
	for i, r := range e.finishedRunsNewestFirst() {
		countByOwner[r.owner()]++
		bytes += e.sizeIfLimited(r.trackedRun)
		tooMany := countByOwner[r.owner()] > e.limits.MaxFinishedPerOwner || i >= e.limits.MaxFinished || bytes > e.limits.MaxFinishedBytes && e.limits.MaxFinishedBytes > 0
		tooMany = tooMany && !now.Before(r.retainUntil) || i >= burstFactor*e.limits.MaxFinished
		if (tooMany || now.Sub(r.endTime) > e.limits.RetainFor) && r.readerCount.Load() == 0 {
			if err := e.deleteRun(r.trackedRun); err != nil {
				e.logger.Error("deleting runs", "err", err)
				return
			}
		}
	}
}

func (e *Engine) finishedRunsNewestFirst() []finishedRun {
	var finished []finishedRun
	for _, r := range e.index.endedRuns() {
		at, until := r.retention()
		finished = append(finished, finishedRun{r, at, until})
	}
	slices.SortFunc(finished, func(a, b finishedRun) int { return b.endTime.Compare(a.endTime) })
	return finished
}

// sizeIfLimited returns a run's size, or 0 if Limits.MaxFinishedBytes isn't set.
func (e *Engine) sizeIfLimited(r *trackedRun) int64 {
	if e.limits.MaxFinishedBytes <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size, err := r.storedBytes()
	if err != nil {
		e.logger.Error("measuring the size of a run", "run", r.id, "err", err)
	}
	return size
}

// deleteRun deletes a finished run, with its log and its files. If the log can't be
// deleted, it deletes nothing.
func (e *Engine) deleteRun(r *trackedRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.index.lookup(r.id) != r {
		return nil // it was deleted meanwhile
	}
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		return fmt.Errorf("deleting the log of run %s: %w", r.id, err)
	}
	e.index.removeRun(r)
	e.disk.Add(r.owner(), -r.blobBytes)
	e.messages.Forget(r.id)
	r.wakeWaiters() // a woken waiter finds that the run has been deleted
	if err := e.blobs.DeleteRun(r.id); err != nil {
		e.logger.Error("deleting a run's files", "run", r.id, "err", err)
	}
	return nil
}

// retention returns when the run ended and until when it is kept at least.
func (r *trackedRun) retention() (at, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.EndedAt, r.retainedUntil()
}

// retainedUntil returns [Info.RetainedUntil] of a run that has ended. Callers hold
// mu.
func (r *trackedRun) retainedUntil() time.Time {
	least := r.EndedAt.Add(r.engine.limits.RetainAtLeast)
	if r.poll != nil {
		least = r.EndedAt.Add(max(r.engine.limits.RetainAtLeast, r.poll.retainFromEnd))
		if promised := r.StartedAt.Add(r.poll.retainFromStart); promised.After(least) {
			least = promised
		}
	}
	if most := r.EndedAt.Add(r.engine.limits.RetainFor); least.After(most) {
		return most
	}
	return least
}

// PauseDeletion prevents the deletion of runs, their files and their keys until
// release is called, so that everything the log refers to stays readable. What
// is due in the meantime is deleted on release. Runs continue.
func (e *Engine) PauseDeletion() (release func()) {
	e.deletions.addPauses(+1)
	e.keys.PauseDeletion()
	return sync.OnceFunc(func() {
		e.deletions.addPauses(-1)
		if err := e.keys.ResumeDeletion(); err != nil {
			e.logger.Error("deleting the keys of ended runs", "err", err)
		}
	})
}

// deletions are those of runs: one happens at a time, and none while they are paused.
type deletions struct {
	mu     sync.Mutex // held during a deletion
	pauses int
}

// begin begins a deletion, which lasts until end is called, after those in progress. The
// error is [ErrDeletionPaused]. Callers hold no run's mu, which those take.
func (d *deletions) begin() (end func(), err error) {
	d.mu.Lock()
	if d.pauses > 0 {
		d.mu.Unlock()
		return nil, ErrDeletionPaused
	}
	return d.mu.Unlock, nil
}

// tryBegin is begin for callers that don't wait. It reports false if they would have to, or
// deletions are paused.
func (d *deletions) tryBegin() (end func(), ok bool) {
	if !d.mu.TryLock() {
		return nil, false
	}
	if d.pauses > 0 {
		d.mu.Unlock()
		return nil, false
	}
	return d.mu.Unlock, true
}

// addPauses adds to the number of pauses, after the deletions in progress.
func (d *deletions) addPauses(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pauses += n
}
