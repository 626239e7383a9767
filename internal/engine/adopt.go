package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
)

// Adopt makes the caller, who must be an operator, the owner of an unfinished run.
// The former owner can no longer use it. Adopting one's own run does nothing. The
// error is [ErrRunNotFound], [ErrForbidden], [ErrRunEnded], or the log's.
func (e *Engine) Adopt(ctx context.Context, caller generators.Caller, id string) error {
	if !usesAllRuns(caller) {
		return ErrForbidden
	}
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	if err := e.changeOwner(ctx, r, caller); err != nil {
		return err
	}
	e.audit.Record(r.auditEvent(audit.RunAdopted, caller))
	return nil
}

// TransferRuns makes another caller the owner of all unfinished runs that a caller
// owns, because they are the same person. The error is the log's.
func (e *Engine) TransferRuns(ctx context.Context, from, to generators.Caller) error {
	from.Roles = nil // the runs that it owns, not all that it may use
	var errs []error
	for row, err := range e.rowsOf(from, Position{}) {
		if err != nil || row.State.Ended() {
			errs = append(errs, err)
			continue
		}
		r, err := e.load(row.ID)
		if err == nil {
			err = e.changeOwner(ctx, r, to)
		}
		if !errors.Is(err, ErrRunEnded) && !errors.Is(err, ErrRunNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// changeOwner records another owner of the run. The client of the former owner may
// not come back for it, so it no longer has an idle timeout.
func (e *Engine) changeOwner(ctx context.Context, r *trackedRun, to generators.Caller) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.State.Ended():
		return ErrRunEnded
	case r.owner() == to.ID:
		return nil
	}
	r.idle.stop()
	err := r.Append(context.WithoutCancel(ctx), runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: to}))
	if errors.Is(err, journal.ErrOver) {
		return ErrRunEnded
	}
	return err
}

// endAtLoss yields the batches of a run's log until the caller loses the run to
// another owner. The error is then [ErrForbidden].
func endAtLoss(r *trackedRun, caller generators.Caller, batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	if usesAllRuns(caller) {
		return batches
	}
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			if err == nil && hasAdoption(batch) && !r.isUsableBy(caller) {
				yield(nil, ErrForbidden)
				return
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

func hasAdoption(batch []runlog.Entry) bool {
	for _, e := range batch {
		if e.Kind == runlog.KindAdopted {
			return true
		}
	}
	return false
}
