package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/log"
)

// A doubt is an append of which the log did not say what became of it. Nothing
// else is appended to the run before that is known.
type doubt struct {
	entries []log.Entry // as the log would have them
	given   []log.Entry // as they were before what is too large was moved
	// worker is whose batch they began with, and waiting how many were from it.
	worker  *worker
	waiting int
}

// among tells whether the entries that came after the run's last known one are,
// or begin with, those in doubt.
func (d *doubt) among(came []log.Entry) bool {
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

// clarify finds out what became of an append in doubt, if there is one, and
// takes in what the log has. The error is [log.ErrInDoubt] if that can't be known
// now. Callers hold mu.
func (r *record) clarify(ctx context.Context) error {
	d := r.doubt
	if d == nil {
		return nil
	}
	// Only a log that takes appends knows what it has.
	_, err := r.engine.log.Append(ctx, r.id, r.last)
	var came []log.Entry
	var conflict *log.ConflictError
	if errors.As(err, &conflict) {
		came, err = r.news(ctx)
	}
	if err != nil && !errors.Is(err, log.ErrNotFound) {
		return fmt.Errorf("%w: %w", log.ErrInDoubt, err)
	}
	r.doubt = nil
	if !d.among(came) {
		r.unspill(d.entries, d.given)
	}
	if err != nil {
		return err
	}
	if !d.among(came) {
		return r.takeAll(came, 0)
	}
	if w := d.worker; w != nil && r.work == w { // the batch may have been let go meanwhile
		w.batch.entries = w.batch.entries[min(d.waiting, len(w.batch.entries)):]
	}
	return r.takeAll(came, len(d.entries))
}
