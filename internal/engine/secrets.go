package engine

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/internal/runlog"
)

// The content of a secret answer is in the log only in sealed form. All that reads
// the log, such as pages, streams and lists, sees an answer without content; the
// generator alone gets it. When the run ends, its key is deleted.

// sealSecret replaces the content of a secret answer by its sealed form.
func (r *trackedRun) sealSecret(a *runlog.Answered) error {
	sealed, err := r.core.keys.Seal(r.id, a.Answer.Content)
	if err != nil {
		return err
	}
	a.Sealed, a.Answer.Content = sealed, nil
	return nil
}

// unsealSecret restores the content of an answer, if it was sealed.
func (r *trackedRun) unsealSecret(a *runlog.Answered) error {
	if a.Sealed == nil {
		return nil
	}
	content, err := r.core.keys.Unseal(r.id, a.Sealed)
	if err != nil {
		return err
	}
	a.Answer.Content, a.Sealed = content, nil
	return nil
}

// deleteKey deletes the key of a run that has ended. That is synced first: a power failure must
// not take back the end of a run whose secrets can no longer be read.
func (c *core) deleteKey(run string) error {
	if !c.keys.Has(run) {
		return nil
	}
	if err := c.log.Sync(c.generatorCtx); err != nil {
		return err
	}
	return c.keys.Delete(run)
}

// deleteKeysOfEndedRuns deletes the keys that a process left which was killed.
func (e *Engine) deleteKeysOfEndedRuns(ctx context.Context) error {
	runs, err := e.keys.Runs()
	for _, id := range runs {
		row, rowErr := e.rows.Row(ctx, id)
		switch {
		case errors.Is(rowErr, runlog.ErrNotFound):
		case rowErr != nil:
			err = errors.Join(err, rowErr)
		case row.State.Ended():
			err = errors.Join(err, e.deleteKey(id))
		}
	}
	return err
}
