package journal

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
	stored, entries []runlog.Entry // as they would be in the log, and before spilling
	recorded        func()
}

// isPrefixOf reports whether missed, the entries after the run's last known one,
// begin with the entries of the append.
func (u *uncertainAppend) isPrefixOf(missed []runlog.Entry) bool {
	if len(missed) < len(u.stored) {
		return false
	}
	for i, e := range u.stored {
		if c := missed[i]; c.Kind != e.Kind || c.Blob != e.Blob || !bytes.Equal(c.Data, e.Data) {
			return false
		}
	}
	return true
}

// markUncertain notes that the outcome of an append is unknown. It is resolved in the background,
// in case nothing else is appended to the run.
func (j *Journal) markUncertain(stored, entries []runlog.Entry, recorded func()) {
	j.uncertain = &uncertainAppend{stored, entries, recorded}
	if j.Last > 0 {
		j.hooks.ResolveLater()
	}
}

// IsUncertain reports whether the outcome of an append is unknown.
func (j *Journal) IsUncertain() bool { return j.uncertain != nil }

// Resolve finds out whether the log has the entries of an uncertain append, if there is one, and
// applies the entries that it has. The error is [runlog.ErrUncertain] if that can't be known now.
func (j *Journal) Resolve(ctx context.Context) error {
	u := j.uncertain
	if u == nil {
		return nil
	}
	// An append of nothing: only a log that accepts appends knows what it has.
	_, err := j.hooks.Log.Append(ctx, j.id, j.Last)
	var missed []runlog.Entry
	var conflict *runlog.ConflictError
	if errors.As(err, &conflict) {
		missed, err = j.readMissed(ctx)
	}
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", runlog.ErrUncertain, err)
	}
	j.uncertain = nil
	if !u.isPrefixOf(missed) {
		j.Files.Unspill(u.stored, u.entries)
		if err != nil {
			return err
		}
		return j.apply(missed, 0)
	}
	if err != nil {
		return err
	}
	u.recorded()
	return j.apply(missed, len(u.stored))
}
