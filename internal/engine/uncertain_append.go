package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

// An uncertainAppend is an append of which it is unknown whether the log has its
// entries. Nothing else is appended to the run until that is resolved.
type uncertainAppend struct {
	entries  []runlog.Entry // as they would be in the log
	original []runlog.Entry // before spilling
	// worker is the worker whose batch the first batchedCount entries are from; nil
	// if there are none.
	worker       *worker
	batchedCount int
}

// isPrefixOf reports whether missed, the entries after the run's last known one,
// begin with the entries of the append.
func (u *uncertainAppend) isPrefixOf(missed []runlog.Entry) bool {
	if len(missed) < len(u.entries) {
		return false
	}
	for i, e := range u.entries {
		if c := missed[i]; c.Kind != e.Kind || c.Blob != e.Blob || !bytes.Equal(c.Data, e.Data) {
			return false
		}
	}
	return true
}

// resolveUncertainAppend finds out whether the log has the entries of an uncertain
// append, if there is one, and applies the entries that it has. The error is
// [runlog.ErrUncertain] if that can't be known now. Callers hold mu.
func (r *trackedRun) resolveUncertainAppend(ctx context.Context) error {
	u := r.uncertain
	if u == nil {
		return nil
	}
	// An append of nothing: only a log that accepts appends knows what it has.
	_, err := r.engine.log.Append(ctx, r.id, r.Last)
	var missed []runlog.Entry
	var conflict *runlog.ConflictError
	if errors.As(err, &conflict) {
		missed, err = r.readMissedEntries(ctx)
	}
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", runlog.ErrUncertain, err)
	}
	r.uncertain = nil
	if !u.isPrefixOf(missed) {
		r.undoSpill(u.entries, u.original)
	}
	if err != nil {
		return err
	}
	if !u.isPrefixOf(missed) {
		return r.applyEntries(missed, 0)
	}
	if w := u.worker; w != nil && r.worker == w { // the worker may have been stopped in the meantime
		w.batch.entries = w.batch.entries[min(u.batchedCount, len(w.batch.entries)):]
	}
	return r.applyEntries(missed, len(u.entries))
}

// resolveUncertainLater resolves an uncertain append in the background, in case
// nothing else is appended to the run.
func (r *trackedRun) resolveUncertainLater() {
	r.retryInBackground(func() error { return r.resolveUncertainAppend(r.engine.ctx) })
}

// markUncertain notes that the outcome of an append is unknown.
func (r *trackedRun) markUncertain(stored, entries []runlog.Entry) {
	r.uncertain = &uncertainAppend{entries: stored, original: entries}
	if r.Last > 0 {
		go r.resolveUncertainLater()
	}
}
