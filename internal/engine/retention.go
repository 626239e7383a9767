package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// What is said of retention; see package retention.
type (
	PruneCriteria = retention.Criteria
	PrunedRun     = retention.Run
)

// MaxRetention bounds the retention that can be promised for a run; see
// [StartRequest.RetainFor] and [Engine.RetainAfterEnd].
const MaxRetention = retention.MaxPromise

// finishedRuns keep and delete the runs that have ended. The methods may be called from several
// goroutines.
type finishedRuns struct{ *core }

// newKeeper returns what keeps the engine's finished runs.
func newKeeper(c *core) *retention.Keeper {
	l := c.limits
	return &retention.Keeper{
		Limits: retention.Limits{
			MaxPerOwner: l.MaxFinishedPerOwner, MaxRuns: l.MaxFinished, MaxBytes: l.MaxFinishedBytes, Longest: l.RetainFor, Shortest: l.RetainAtLeast,
		},
		Ended:     endedRows(c.rows),
		Size:      c.files.Size,
		InUse:     finishedRuns{c}.isRead,
		DeleteRun: finishedRuns{c}.deleteUnread,
		Logger:    c.logger,
		Closing:   c.acceptCtx.Done(),
	}
}

func endedRows(rows runlist.Rows) func() iter.Seq2[*runlist.Row, error] {
	return func() iter.Seq2[*runlist.Row, error] { return pages.Each(rows.Ended, pages.EndOf) }
}

// isRead reports whether somebody reads a run.
func (f finishedRuns) isRead(id string) bool {
	r := f.residents.find(id)
	return r != nil && r.readerCount.Load() > 0
}

// Prune deletes finished runs, with their logs and files, and returns them, oldest first. If
// dryRun is set, it only returns them. It keeps unfinished runs, runs that are
// being read, and runs with a promised retention; see [StartRequest.RetainFor]
// and [Engine.RetainAfterEnd]. The error is [ErrDeletionPaused], the log's, or
// the file system's.
func (f finishedRuns) Prune(c PruneCriteria, dryRun bool) ([]PrunedRun, error) {
	return f.keeper.Prune(c, dryRun)
}

// PruneLog is [Engine.Prune] for a log that no engine uses. keyDir is the folder
// of the runs' keys. Of the promised retentions, only those in the log count.
func PruneLog(ctx context.Context, l runlist.Store, blobs *blob.Store, keyDir string, c PruneCriteria, dryRun bool) ([]PrunedRun, error) {
	var failed error // to measure a run's files
	keys := keyring.New(keyDir)
	k := retention.Keeper{
		Limits: retention.Limits{Longest: MaxRetention},
		Ended:  endedRows(l),
		Size: func(run string) int64 {
			n, err := blobs.RunSize(run)
			failed = errors.Join(failed, err)
			return n
		},
		DeleteRun: func(run string) (bool, error) {
			if failed != nil {
				return false, failed
			}
			if err := l.Delete(ctx, run); err != nil {
				return false, err
			}
			return true, errors.Join(blobs.DeleteRun(run), keys.Delete(run))
		},
	}
	pruned, err := k.Prune(c, dryRun)
	if err == nil {
		err = failed
	}
	return pruned, err
}

// RetainAfterEnd keeps a run for a time after its end, at most [MaxRetention],
// however many other runs end: a client has the run's id and will come back for
// the result. The promise isn't recorded and ends with the process. The error is
// [ErrRunNotFound] or [ErrForbidden].
func (f finishedRuns) RetainAfterEnd(caller generators.Caller, id string, after time.Duration) error {
	if _, err := f.findRun(caller, id); err != nil {
		return err
	}
	f.keeper.Promise(id, after)
	return nil
}

// Delete deletes a run that has ended, with its log and files. The error is
// [ErrRunNotFound], [ErrForbidden], [ErrRunNotEnded], [ErrRunInUse],
// [ErrDeletionPaused], or the log's.
func (f finishedRuns) Delete(caller generators.Caller, id string) error {
	r, err := f.findRun(caller, id)
	switch {
	case err != nil:
		return err
	case !r.ended.Load():
		return ErrRunNotEnded
	}
	if deleted, err := f.keeper.Delete(id); deleted || err != nil {
		return err
	}
	return ErrRunInUse
}

// Discard deletes a run that has ended, with its log and files, unless somebody reads it
// or a backup is in progress. It does nothing if there is no such run.
func (f finishedRuns) Discard(caller generators.Caller, id string) error {
	err := f.Delete(caller, id)
	for _, cause := range []error{ErrRunNotFound, ErrForbidden, ErrRunNotEnded, ErrRunInUse, ErrDeletionPaused} {
		if errors.Is(err, cause) {
			return nil
		}
	}
	return err
}

// deleteUnread deletes a run that has ended, with its log and its files, unless somebody reads it,
// and reports whether it did. If the log can't be deleted, it deletes nothing.
func (f finishedRuns) deleteUnread(id string) (deleted bool, err error) {
	r, err := f.load(id)
	switch {
	case errors.Is(err, ErrRunNotFound):
		return false, nil
	case err != nil:
		return false, err
	case r.readerCount.Load() > 0:
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := f.log.Delete(context.Background(), r.id); err != nil {
		return false, fmt.Errorf("deleting the log of run %s: %w", r.id, err)
	}
	f.residents.remove(r)
	f.files.Delete(r.id, r.owner())
	f.messages.Forget(r.id)
	f.keeper.Forget(r.id)
	r.wakeWaiters() // a woken waiter finds that the run has been deleted
	f.watchers.Notify(r.owner())
	return true, nil
}

// PauseDeletion prevents the deletion of runs, their files and their keys until
// release is called, so that everything the log refers to stays readable. What
// is due in the meantime is deleted on release. Runs continue.
func (f finishedRuns) PauseDeletion() (release func()) {
	resume := f.keeper.Pause()
	f.keys.PauseDeletion()
	return sync.OnceFunc(func() {
		resume()
		if err := f.keys.ResumeDeletion(); err != nil {
			f.logger.Error("deleting the keys of ended runs", "err", err)
		}
	})
}
