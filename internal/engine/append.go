package engine

import (
	"context"
	"encoding/json"
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
		r.observeEntry(e)
		r.applyEntry(e)
	}
}

// checkStillApplies returns an error if entries became obsolete because others
// were appended first: ErrSettled if they settle a settled ask or sleep, and errRunOver if
// they come from a worker of an older epoch.
func (r *trackedRun) checkStillApplies(entries []runlog.Entry, epoch int) error {
	superseded := r.Epoch > epoch
	for _, e := range entries {
		switch e.Kind {
		case runlog.KindFinished:
			f, err := runlog.Decode[runlog.Finished](e)
			if err != nil {
				return err
			}
			if superseded && isGeneratorEnd(f) {
				return errRunOver // only the end of the new worker's generator counts
			}
		case runlog.KindAnswered, runlog.KindWithdrawn:
			if err := r.checkAskIsOpen(e); err != nil {
				return err
			}
		case runlog.KindWoken:
			w, err := runlog.Decode[runlog.Woken](e)
			if err != nil {
				return err
			}
			if r.findSleep(w.SleepSeq) == nil {
				return ErrSettled
			}
		case runlog.KindSampling:
			s, err := runlog.Decode[runlog.Sampling](e)
			if err == nil {
				err = r.checkSampling(s)
			}
			if err != nil {
				return err
			}
		case runlog.KindAdopted: // no worker's
		default:
			if superseded {
				return errRunOver
			}
		}
	}
	return nil
}

// checkAskIsOpen returns ErrSettled if the ask that an entry settles isn't open.
func (r *trackedRun) checkAskIsOpen(settlement runlog.Entry) error {
	var settles struct{ Ask uint64 }
	if err := json.Unmarshal(settlement.Data, &settles); err != nil {
		return err
	}
	if r.findOpenAsk(settles.Ask) == nil {
		return ErrSettled
	}
	return nil
}

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
		if i < own {
			r.observeEntry(e)
		}
		r.applyEntry(e)
	}
	return nil
}
