package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/runlog"
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

	retainUntil time.Time // zero if no retention was promised
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
	candidates, runs, err := e.pruneCandidates()
	if err != nil {
		return nil, err
	}
	selected := c.selectRuns(candidates, time.Now())
	if dryRun {
		return selected, nil
	}
	var deleted []PrunedRun
	for _, p := range selected {
		if runs[p.ID].readerCount.Load() > 0 {
			continue
		}
		if err := e.deleteRun(runs[p.ID]); err != nil {
			return deleted, err
		}
		deleted = append(deleted, p)
	}
	return deleted, nil
}

// pruneCandidates returns the runs that may be deleted now, and the same by id.
func (e *Engine) pruneCandidates() (candidates []PrunedRun, byID map[string]*trackedRun, err error) {
	byID = make(map[string]*trackedRun)
	for _, r := range e.index.endedRuns() {
		p, ok, err := r.pruneCandidate()
		if err != nil {
			return nil, nil, err
		}
		if ok && r.readerCount.Load() == 0 {
			candidates, byID[p.ID] = append(candidates, p), r
		}
	}
	return candidates, byID, nil
}

// pruneCandidate describes the run, if it has ended and needn't be retained.
func (r *trackedRun) pruneCandidate() (p PrunedRun, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.State.Ended() || r.poll != nil && time.Now().Before(r.retainedUntil()) {
		return p, false, nil
	}
	size, err := r.storedBytes()
	return PrunedRun{ID: r.id, Photon: r.Start.Photon, State: r.State, Ended: r.EndedAt, Bytes: size}, true, err
}

// storedBytes returns the approximate size of the run's log and files. Callers
// hold mu.
func (r *trackedRun) storedBytes() (int64, error) {
	inLog := r.Bytes - r.spilledBytes
	if len(r.blobRefs) == 0 {
		return inLog, nil
	}
	n, err := r.engine.blobs.RunSize(r.id)
	return inLog + n, err
}

// PruneLog is [Engine.Prune] for a log that no engine uses. keyDir is the folder
// of the runs' keys. Of the promised retentions, only those in the log count.
func PruneLog(ctx context.Context, l runlog.Log, blobs *blob.Store, keyDir string, c PruneCriteria, dryRun bool) ([]PrunedRun, error) {
	ended, err := readFinishedRuns(ctx, l)
	if err != nil {
		return nil, err
	}
	for i, r := range ended {
		n, err := blobs.RunSize(r.ID)
		if err != nil {
			return nil, err
		}
		ended[i].Bytes += n
	}
	now := time.Now()
	ended = slices.DeleteFunc(ended, func(r PrunedRun) bool { return now.Before(r.retainUntil) })
	selected := c.selectRuns(ended, now)
	if dryRun {
		return selected, nil
	}
	keys := keyring.New(keyDir)
	for i, r := range selected {
		if err := l.Delete(ctx, r.ID); err != nil {
			return selected[:i], err
		}
		if err := errors.Join(blobs.DeleteRun(r.ID), keys.Delete(r.ID)); err != nil {
			return selected[:i+1], err
		}
	}
	return selected, nil
}

// readFinishedRuns reads the finished runs of a log.
func readFinishedRuns(ctx context.Context, l runlog.Log) ([]PrunedRun, error) {
	unfinished := make(map[string]*PrunedRun)
	var ended []PrunedRun
	for a, err := range runlog.Scan(ctx, l) {
		if err != nil {
			return nil, err
		}
		r := unfinished[a.Run]
		if r == nil {
			r = &PrunedRun{ID: a.Run}
			unfinished[a.Run] = r
		}
		for _, entry := range a.Entries {
			r.Bytes += int64(len(entry.Data))
			if err := r.applyEntry(entry); err != nil {
				return nil, err
			}
		}
		if !r.Ended.IsZero() {
			ended = append(ended, *r)
			delete(unfinished, a.Run)
		}
	}
	return ended, nil
}

// applyEntry sets what an entry says of the run.
func (p *PrunedRun) applyEntry(e runlog.Entry) error {
	switch {
	case e.Kind == runlog.KindStarted && e.Blob == "":
		s, err := runlog.Decode[runlog.Started](e)
		p.Photon = s.Photon
		if s.RetainFor > 0 {
			p.retainUntil = e.Time.Add(time.Duration(s.RetainFor))
		}
		return err
	case e.Kind == runlog.KindFinished && e.Blob == "":
		f, err := runlog.Decode[runlog.Finished](e)
		p.State, p.Ended = State(f.Status), e.Time
		return err
	case e.Kind == runlog.KindFinished: // a spilled result: only a completed run has a result
		p.State, p.Ended = Completed, e.Time
	}
	return nil
}
