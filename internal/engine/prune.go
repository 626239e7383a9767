package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// PruneCriteria select the finished runs to delete: those that match any of them.
// A nil criterion matches none.
type PruneCriteria struct {
	OlderThan *time.Duration `json:"olderThan,omitempty"` // since their end
	Keep      *int           `json:"keep,omitempty"`      // how many of the newest to keep
	MaxBytes  *int64         `json:"maxBytes,omitempty"`  // total size of the runs to keep
}

// A PrunedRun is a finished run that was deleted or, in a dry run, would be.
type PrunedRun struct {
	ID     string    `json:"id"`
	Photon string    `json:"photon"`
	State  State     `json:"state"`
	Ended  time.Time `json:"ended"`
	Bytes  int64     `json:"bytes"` // approximate size of its log and files
}

// selectRuns returns the finished runs to delete, oldest first. It sorts runs.
func (c PruneCriteria) selectRuns(runs []PrunedRun, now time.Time) []PrunedRun {
	slices.SortFunc(runs, func(a, b PrunedRun) int { return b.Ended.Compare(a.Ended) })
	var selected []PrunedRun
	var size int64
	for i, r := range runs {
		size += r.Bytes
		old := c.OlderThan != nil && now.Sub(r.Ended) > *c.OlderThan
		if old || c.Keep != nil && i >= *c.Keep || c.MaxBytes != nil && size > *c.MaxBytes {
			selected = append(selected, r)
		}
	}
	slices.Reverse(selected)
	return selected
}

// Prune deletes finished runs, with their logs and files, and returns them. If
// dryRun is set, it only returns them. It keeps unfinished runs, runs that are
// being read, and runs with a promised retention; see [StartRequest.RetainFor]
// and [Engine.RetainAfterEnd]. The error is [ErrDeletionPaused], the log's, or
// the file system's.
func (e *Engine) Prune(c PruneCriteria, dryRun bool) ([]PrunedRun, error) {
	end, err := e.deletions.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	candidates, err := e.pruneCandidates()
	if err != nil {
		return nil, err
	}
	selected := c.selectRuns(candidates, time.Now())
	if dryRun {
		return selected, nil
	}
	return deleteEach(context.Background(), selected, e.deleteUnread)
}

// maxDeletions is how many runs are deleted at once: each deletion waits for the disk, and the
// log syncs those that wait together.
const maxDeletions = 4

// deleteEach deletes runs with a function that reports whether it deleted one, until it fails,
// and returns those that were deleted.
func deleteEach(ctx context.Context, runs []PrunedRun, deleteOne func(id string) (bool, error)) ([]PrunedRun, error) {
	deleted := make([]bool, len(runs))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(maxDeletions)
	for i, r := range runs {
		if ctx.Err() != nil {
			break
		}
		all.Go(func() (err error) {
			deleted[i], err = deleteOne(r.ID)
			return err
		})
	}
	err := all.Wait()
	var done []PrunedRun
	for i, r := range runs {
		if deleted[i] {
			done = append(done, r)
		}
	}
	return done, err
}

// pruneCandidates returns the runs that may be deleted now.
func (e *Engine) pruneCandidates() (candidates []PrunedRun, err error) {
	now := time.Now()
	for row, err := range eachRow(e.rows.Ended, endOf) {
		if err != nil {
			return nil, err
		}
		promised := row.Start.RetainFor > 0 || e.promises.get(row.ID) > 0
		if promised && now.Before(e.retainedUntil(row.ID, &row.Run)) {
			continue
		}
		if r := e.residents.find(row.ID); r != nil && r.readerCount.Load() > 0 {
			continue
		}
		candidates = append(candidates, newPrunedRun(row, e.storedBytes(row)))
	}
	return candidates, nil
}

func newPrunedRun(row *runlist.Row, bytes int64) PrunedRun {
	return PrunedRun{ID: row.ID, Photon: row.Start.Photon, State: row.State, Ended: row.EndedAt, Bytes: bytes}
}

// PruneLog is [Engine.Prune] for a log that no engine uses. keyDir is the folder
// of the runs' keys. Of the promised retentions, only those in the log count.
func PruneLog(ctx context.Context, l runlist.Store, blobs *blob.Store, keyDir string, c PruneCriteria, dryRun bool) ([]PrunedRun, error) {
	var ended []PrunedRun
	now := time.Now()
	for row, err := range eachRow(l.Ended, endOf) {
		if err != nil {
			return nil, err
		}
		if now.Before(row.StartedAt.Add(time.Duration(row.Start.RetainFor))) {
			continue
		}
		n, err := blobs.RunSize(row.ID)
		if err != nil {
			return nil, err
		}
		ended = append(ended, newPrunedRun(row, row.Bytes+n))
	}
	selected := c.selectRuns(ended, now)
	if dryRun {
		return selected, nil
	}
	keys := keyring.New(keyDir)
	return deleteEach(ctx, selected, func(id string) (bool, error) {
		if err := l.Delete(ctx, id); err != nil {
			return false, err
		}
		return true, errors.Join(blobs.DeleteRun(id), keys.Delete(id))
	})
}
