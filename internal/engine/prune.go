package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// PruneCriteria say which finished runs are to go: those that any of them is against.
// One that is nil is against none.
type PruneCriteria struct {
	OlderThan *time.Duration `json:"olderThan,omitempty"` // since their end
	Keep      *int           `json:"keep,omitempty"`      // how many stay, the newest
	MaxBytes  *int64         `json:"maxBytes,omitempty"`  // what those that stay take together
}

// A PrunedRun is a finished run that goes, or would.
type PrunedRun struct {
	ID     string    `json:"id"`
	Photon string    `json:"photon"`
	State  State     `json:"state"`
	Ended  time.Time `json:"ended"`
	Bytes  int64     `json:"bytes"` // of its log and its files, about

	retainUntil time.Time // that it is kept until; zero if it was not
}

// selectRuns returns those of some finished runs that are to go, oldest first.
func (c PruneCriteria) selectRuns(runs []PrunedRun, now time.Time) []PrunedRun {
	slices.SortFunc(runs, func(a, b PrunedRun) int { return b.Ended.Compare(a.Ended) })
	var gone []PrunedRun
	var size int64
	for i, r := range runs {
		size += r.Bytes
		old := c.OlderThan != nil && now.Sub(r.Ended) > *c.OlderThan
		if old || c.Keep != nil && i >= *c.Keep || c.MaxBytes != nil && size > *c.MaxBytes {
			gone = append(gone, r)
		}
	}
	slices.Reverse(gone)
	return gone
}

// Prune deletes finished runs, their logs and their files, and returns them;
// dry, it only returns them. What somebody reads at the moment stays, and what
// its caller was promised to find; see [StartRequest.RetainFor] and [Engine.RetainAfterEnd]. A
// run that has not ended is never deleted. The error is ErrHeld, or the file
// system's.
func (e *Engine) Prune(c PruneCriteria, dry bool) ([]PrunedRun, error) {
	if e.keys.isDeletionPaused() {
		return nil, ErrDeletionPaused
	}
	e.deleteLock.Lock()
	defer e.deleteLock.Unlock()
	var ended []PrunedRun
	records := make(map[string]*trackedRun)
	for _, r := range e.index.endedRuns() {
		p, ok, err := r.pruneCandidate()
		if err != nil {
			return nil, err
		}
		if ok && r.readerCount.Load() == 0 {
			ended, records[p.ID] = append(ended, p), r
		}
	}
	chosen := c.selectRuns(ended, time.Now())
	if dry {
		return chosen, nil
	}
	var gone []PrunedRun
	for _, p := range chosen {
		if records[p.ID].readerCount.Load() > 0 {
			continue
		}
		if err := e.deleteRun(records[p.ID]); err != nil {
			return gone, err
		}
		gone = append(gone, p)
	}
	return gone, nil
}

// pruneCandidate describes a run that has ended.
func (r *trackedRun) pruneCandidate() (p PrunedRun, ended bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state.Ended() || r.poll != nil && time.Now().Before(r.retainedUntil()) {
		return p, false, nil
	}
	size, err := r.storedBytes()
	return PrunedRun{ID: r.id, Photon: r.started.Photon, State: r.state, Ended: r.endedAt, Bytes: size}, true, err
}

// storedBytes is how many bytes the run's log and files take, about. Callers hold mu.
func (r *trackedRun) storedBytes() (int64, error) {
	own := r.logBytes - r.spilledBytes
	if len(r.blobRefs) == 0 {
		return own, nil
	}
	n, err := r.engine.blobs.RunSize(r.id)
	return own + n, err
}

// PruneLog is [Engine.Prune] where no engine runs: nothing may be using the log.
// keys is the folder of the runs' keys. Of promises, it knows those that the log
// has.
func PruneLog(ctx context.Context, l runlog.Log, blobs *blob.Store, keys string, c PruneCriteria, dry bool) ([]PrunedRun, error) {
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
	gone := c.selectRuns(ended, now)
	if dry {
		return gone, nil
	}
	ring := keyring{dir: keys}
	for i, r := range gone {
		if err := l.Delete(ctx, r.ID); err != nil {
			return gone[:i], err
		}
		if err := errors.Join(blobs.DeleteRun(r.ID), ring.deleteKey(r.ID)); err != nil {
			return gone[:i+1], err
		}
	}
	return gone, nil
}

// readFinishedRuns reads a log's finished runs.
func readFinishedRuns(ctx context.Context, l runlog.Log) ([]PrunedRun, error) {
	open := make(map[string]*PrunedRun)
	var ended []PrunedRun
	for a, err := range runlog.Scan(ctx, l) {
		if err != nil {
			return nil, err
		}
		r := open[a.Run]
		if r == nil {
			r = &PrunedRun{ID: a.Run}
			open[a.Run] = r
		}
		for _, entry := range a.Entries {
			r.Bytes += int64(len(entry.Data))
			if err := r.applyEntry(entry); err != nil {
				return nil, err
			}
		}
		if !r.Ended.IsZero() {
			ended = append(ended, *r)
			delete(open, a.Run)
		}
	}
	return ended, nil
}

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
	case e.Kind == runlog.KindFinished: // its result is large, so it has one
		p.State, p.Ended = Completed, e.Time
	}
	return nil
}
