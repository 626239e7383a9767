package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runstate"
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
	if _, err := e.findRun(caller, id); err != nil {
		return err
	}
	e.promises.add(id, min(after, MaxRetention))
	return nil
}

// promises are how long runs are retained after their ends, by their ids; see
// [Engine.RetainAfterEnd]. The methods may be called from several goroutines. The zero value has
// none.
type promises struct {
	mu    sync.Mutex
	after map[string]time.Duration
}

func (p *promises) add(run string, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.after == nil {
		p.after = make(map[string]time.Duration)
	}
	p.after[run] = max(p.after[run], after)
}

func (p *promises) get(run string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.after[run]
}

func (p *promises) forget(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.after, run)
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

// deleteOldRuns deletes the finished runs that the limits don't allow to keep. If
// deletion is paused or fails, it returns, and the next call tries again.
func (e *Engine) deleteOldRuns() {
	end, err := e.deletions.begin()
	if err != nil {
		return
	}
	defer end()
	if err := e.deleteUnretained(time.Now()); err != nil {
		e.logger.Error("deleting runs", "err", err)
	}
}

func (e *Engine) deleteUnretained(now time.Time) error {
	countByOwner := make(map[string]int) // one owner's runs never displace another's
	var bytes int64
	deletions, ctx := errgroup.WithContext(context.Background())
	deletions.SetLimit(maxDeletions)
	i := 0
	for row, err := range eachRow(e.rows.Ended, endOf) {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(deletions.Wait(), err)
		}
		countByOwner[row.Owner()]++
		if e.limits.MaxFinishedBytes > 0 {
			bytes += e.storedBytes(row)
		}
		tooMany := countByOwner[row.Owner()] > e.limits.MaxFinishedPerOwner || i >= e.limits.MaxFinished || bytes > e.limits.MaxFinishedBytes && e.limits.MaxFinishedBytes > 0
		tooMany = tooMany && !now.Before(e.retainedUntil(row.ID, &row.Run)) || i >= burstFactor*e.limits.MaxFinished
		i++
		if tooMany || now.Sub(row.EndedAt) > e.limits.RetainFor {
			deletions.Go(func() error {
				_, err := e.deleteUnread(row.ID)
				return err
			})
		}
	}
	return deletions.Wait()
}

// deleteUnread deletes a run that has ended, unless somebody reads it, and reports whether it
// did.
func (e *Engine) deleteUnread(id string) (deleted bool, err error) {
	r, err := e.load(id)
	switch {
	case errors.Is(err, ErrRunNotFound):
		return false, nil
	case err != nil:
		return false, err
	case r.readerCount.Load() > 0:
		return false, nil
	}
	err = e.deleteRun(r)
	return err == nil, err
}

// storedBytes returns the approximate size of a run's log and files.
func (e *Engine) storedBytes(row *runlist.Row) int64 { return row.Bytes + e.files.Size(row.ID) }

// deleteRun deletes a finished run, with its log and its files. If the log can't be
// deleted, it deletes nothing.
func (e *Engine) deleteRun(r *trackedRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil // it was deleted meanwhile
	}
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		return fmt.Errorf("deleting the log of run %s: %w", r.id, err)
	}
	e.residents.remove(r)
	e.messages.Forget(r.id)
	e.promises.forget(r.id)
	r.wakeWaiters() // a woken waiter finds that the run has been deleted
	e.watchers.notify(r.owner())
	e.files.Delete(r.id, r.owner())
	return nil
}

// retainedUntil returns [Info.RetainedUntil] of a run that has ended.
func (e *Engine) retainedUntil(id string, r *runstate.Run) time.Time {
	least := r.EndedAt.Add(max(e.limits.RetainAtLeast, e.promises.get(id)))
	if promised := r.StartedAt.Add(time.Duration(r.Start.RetainFor)); promised.After(least) {
		least = promised
	}
	if most := r.EndedAt.Add(e.limits.RetainFor); least.After(most) {
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

// deletions are those of runs: one caller deletes at a time, and none while they are paused.
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
