package engine

import (
	"context"
	"errors"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// appendEntries appends entries to the run's log and applies them. If another
// process wrote in the meantime, it applies that process's entries and tries
// again, unless the run has ended or the ask or sleep that the entries settle has
// been settled. Callers hold mu.
func (r *trackedRun) appendEntries(ctx context.Context, entries ...runlog.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := r.resolveBeforeAppend(ctx, entries); err != nil {
		return err
	}
	stored, err := r.spillEntries(ctx, entries)
	if err != nil {
		return err
	}
	setMissingTimes(stored)
	err = r.appendUntilNoConflict(ctx, stored, entries)
	if err != nil && r.uncertain == nil {
		r.undoSpill(stored, entries)
	}
	return err
}

// resolveBeforeAppend resolves an earlier uncertain append. It returns an error if
// the entries are then obsolete.
func (r *trackedRun) resolveBeforeAppend(ctx context.Context, entries []runlog.Entry) error {
	lastSeq, epoch := r.Last, r.Epoch
	if err := r.resolveUncertainAppend(ctx); err != nil {
		return err
	}
	if r.Last > lastSeq {
		return r.checkStillApplies(entries, epoch)
	}
	return nil
}

// setMissingTimes sets the times here and not in the log, so that lists and the
// log show the same.
func setMissingTimes(entries []runlog.Entry) {
	now := time.Now()
	for i := range entries {
		if entries[i].Time.IsZero() {
			entries[i].Time = now
		}
	}
}

// appendUntilNoConflict appends stored, which is entries with large data moved to
// the blob store.
func (r *trackedRun) appendUntilNoConflict(ctx context.Context, stored, entries []runlog.Entry) error {
	for {
		if r.State.Ended() {
			return errRunOver
		}
		err := r.tryAppend(ctx, stored)
		var conflict *runlog.ConflictError
		switch {
		case err == nil:
			r.applyAppended(stored, entries)
			return nil
		case errors.Is(err, runlog.ErrUncertain):
			r.markUncertain(stored, entries)
			return err
		case !errors.As(err, &conflict):
			return err
		}
		epoch := r.Epoch
		if err := r.applyMissedEntries(ctx); err != nil {
			return err
		}
		if err := r.checkStillApplies(entries, epoch); err != nil {
			return err
		}
	}
}

// tryAppend appends once and meters it.
func (r *trackedRun) tryAppend(ctx context.Context, stored []runlog.Entry) error {
	began := time.Now()
	_, err := r.engine.log.Append(ctx, r.id, r.Last, stored...)
	r.engine.meter.EntriesAppended(len(stored), time.Since(began), err)
	return err
}

// applyAppended applies entries that this process has just appended.
func (r *trackedRun) applyAppended(stored, entries []runlog.Entry) {
	for i, e := range entries {
		e.Seq, e.Time = r.Last+1, stored[i].Time
		r.applyEntry(e, true)
	}
}

// checkStillApplies returns an error if entries became obsolete because others
// were appended first: ErrSettled if they settle a settled ask or sleep, and errRunOver if
// they come from a worker of an older epoch.
func (r *trackedRun) checkStillApplies(entries []runlog.Entry, epoch int) error {
	c := obsolescence{r: r, superseded: r.Epoch > epoch}
	c.Rest = func(runlog.Entry) error {
		if c.superseded {
			return errRunOver
		}
		return nil
	}
	for _, e := range entries {
		if err := e.Visit(c); err != nil {
			return err
		}
	}
	return nil
}

// An obsolescence returns whether entries are obsolete. The rest come from workers.
type obsolescence struct {
	runlog.Rest
	r          *trackedRun
	superseded bool
}

// Finished lets only the end of the new worker's generator count.
func (c obsolescence) Finished(e runlog.Entry, f runlog.Finished) error {
	if isGeneratorEnd(f) {
		return c.Rest(e)
	}
	return nil
}

func (c obsolescence) Answered(_ runlog.Entry, a runlog.Answered) error { return c.settles(a.AskSeq) }

func (c obsolescence) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error { return c.settles(w.AskSeq) }

func (c obsolescence) settles(ask uint64) error {
	if c.r.FindAsk(ask) == nil {
		return ErrSettled
	}
	return nil
}

func (c obsolescence) Woken(_ runlog.Entry, w runlog.Woken) error {
	if c.r.FindSleep(w.SleepSeq) == nil {
		return ErrSettled
	}
	return nil
}

func (c obsolescence) Sampling(_ runlog.Entry, s runlog.Sampling) error { return c.r.checkSampling(s) }

func (c obsolescence) Adopted(runlog.Entry, runlog.Adopted) error { return nil } // no worker's

// applyMissedEntries applies the entries that other processes appended.
func (r *trackedRun) applyMissedEntries(ctx context.Context) error {
	missed, err := r.readMissedEntries(ctx)
	if err != nil {
		return err
	}
	return r.applyEntries(missed, 0)
}

// readMissedEntries reads the entries that other processes appended.
func (r *trackedRun) readMissedEntries(ctx context.Context) (missed []runlog.Entry, err error) {
	for batch, err := range r.engine.log.Read(ctx, r.id, r.Last) {
		if err != nil {
			return nil, err
		}
		missed = append(missed, batch...)
	}
	return missed, nil
}

// applyEntries applies entries that were read from the log. This process appended
// the first own of them.
func (r *trackedRun) applyEntries(entries []runlog.Entry, own int) error {
	for i, e := range entries {
		e, err := r.engine.loadSpilledData(r.id, e)
		if err != nil {
			return err
		}
		r.applyEntry(e, i < own)
	}
	return nil
}
