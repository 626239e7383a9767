package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

// An uncertainAppend is an append of which the log did not say what became of it. Nothing
// else is appended to the run before that is known.
type uncertainAppend struct {
	entries  []runlog.Entry // as the log would have them
	original []runlog.Entry // as they were before what is too large was moved
	// worker is whose batch they began with, and waiting how many were from it.
	worker       *worker
	batchedCount int
}

// isPrefixOf tells whether the entries that came after the run's last known one are,
// or begin with, those in doubt.
func (d *uncertainAppend) isPrefixOf(came []runlog.Entry) bool {
	if len(came) < len(d.entries) {
		return false
	}
	for i, e := range d.entries {
		if c := came[i]; c.Kind != e.Kind || c.Blob != e.Blob || !bytes.Equal(c.Data, e.Data) {
			return false
		}
	}
	return true
}

// resolveUncertainAppend finds out what became of an append in doubt, if there is one, and
// takes in what the log has. The error is [log.ErrUncertain] if that can't be known
// now. Callers hold mu.
func (r *trackedRun) resolveUncertainAppend(ctx context.Context) error {
	d := r.uncertain
	if d == nil {
		return nil
	}
	// Only a log that takes appends knows what it has.
	_, err := r.engine.log.Append(ctx, r.id, r.lastSeq)
	var came []runlog.Entry
	var conflict *runlog.ConflictError
	if errors.As(err, &conflict) {
		came, err = r.readMissedEntries(ctx)
	}
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", runlog.ErrUncertain, err)
	}
	r.uncertain = nil
	if !d.isPrefixOf(came) {
		r.undoSpill(d.entries, d.original)
	}
	if err != nil {
		return err
	}
	if !d.isPrefixOf(came) {
		return r.applyEntries(came, 0)
	}
	if w := d.worker; w != nil && r.worker == w { // the batch may have been let go meanwhile
		w.batch.entries = w.batch.entries[min(d.batchedCount, len(w.batch.entries)):]
	}
	return r.applyEntries(came, len(d.entries))
}
