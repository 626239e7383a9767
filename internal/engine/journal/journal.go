// Package journal appends to the logs of runs. A journal knows the state that its run's entries
// have led to, whoever appended them: it finds out what other processes wrote in the meantime,
// whether that makes an append obsolete, and what came of one whose outcome was unknown.
package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A Journal is the log of one run. The lock of the run guards it; its hooks are called with the
// lock held.
type Journal struct {
	runstate.Run
	Files files.OfRun

	id        string
	hooks     Hooks
	uncertain *uncertainAppend // nil if the outcome of every append is known
}

// Hooks are what journals have in common, and the effects of entries.
type Hooks struct {
	Log  runlog.Log
	Load func(run string, e runlog.Entry) (runlog.Entry, error) // loads data that was too large
	// Appended is called after each attempt to append a number of entries.
	Appended func(entries int, took time.Duration, err error)
	// Apply applies an entry, once and in order, by [runstate.Run.Apply], and what it means in
	// this process. Own means that this process appended the entry.
	Apply func(e runlog.Entry, own bool)
	// ResolveLater calls Resolve in the background, again and again as long as the error may pass.
	ResolveLater func()
}

// New returns the journal of a run whose entries have led to state.
func New(id string, state runstate.Run, f files.OfRun, h Hooks) Journal {
	return Journal{Run: state, Files: f, id: id, hooks: h}
}

// Errors of appends that became obsolete.
var (
	// ErrOver means that the caller may no longer append to the run's log: the run has ended, or
	// another process has claimed it.
	ErrOver = errors.New("the run is over")
	// ErrSettled means that the question or the sleep is no longer open.
	ErrSettled = errors.New("this question has already been settled")
	// ErrSamplingChanged means that somebody else has meanwhile approved a request to a model, or
	// ended its call.
	ErrSamplingChanged = errors.New("somebody else was faster: this request has been approved or stopped")
)

// Append appends entries and applies them. If another process wrote in the meantime, it applies
// that process's entries and tries again, unless the run has ended or the question or sleep that
// the entries settle has been settled. If the error is [runlog.ErrUncertain], nothing else is
// appended until that is resolved.
func (j *Journal) Append(ctx context.Context, entries ...runlog.Entry) error {
	return j.AppendThen(ctx, func() {}, entries...)
}

// AppendThen is Append. It calls recorded when the log has the entries, before they are applied;
// after an uncertain append, that may be later.
func (j *Journal) AppendThen(ctx context.Context, recorded func(), entries ...runlog.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	last, epoch := j.Last, j.Epoch
	if err := j.Resolve(ctx); err != nil {
		return err
	}
	if j.Last > last {
		if err := j.checkStillApplies(entries, epoch); err != nil {
			return err
		}
	}
	stored, err := j.Files.Spill(ctx, entries)
	if err != nil {
		return err
	}
	setMissingTimes(stored)
	err = j.appendUntilNoConflict(ctx, stored, entries, recorded)
	if err != nil && j.uncertain == nil {
		j.Files.Unspill(stored, entries)
	}
	return err
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

// appendUntilNoConflict appends stored, which is entries with large data moved to files.
func (j *Journal) appendUntilNoConflict(ctx context.Context, stored, entries []runlog.Entry, recorded func()) error {
	for {
		if j.State.Ended() {
			return ErrOver
		}
		began := time.Now()
		_, err := j.hooks.Log.Append(ctx, j.id, j.Last, stored...)
		j.hooks.Appended(len(stored), time.Since(began), err)
		var conflict *runlog.ConflictError
		switch {
		case err == nil:
			recorded()
			for i, e := range entries {
				e.Seq, e.Time = j.Last+1, stored[i].Time
				j.hooks.Apply(e, true)
			}
			return nil
		case errors.Is(err, runlog.ErrUncertain):
			j.markUncertain(stored, entries, recorded)
			return err
		case !errors.As(err, &conflict):
			return err
		}
		if conflict.Last < j.Last {
			return fmt.Errorf("%w: it ends at entry %d, and entry %d was recorded", runlog.ErrCorrupt, conflict.Last, j.Last)
		}
		epoch := j.Epoch
		missed, err := j.readMissed(ctx)
		if err == nil {
			err = j.apply(missed, 0)
		}
		if err == nil {
			err = j.checkStillApplies(entries, epoch)
		}
		if err != nil {
			return err
		}
	}
}

// CatchUp applies what other processes have appended. The error is that of reading the log.
func (j *Journal) CatchUp(ctx context.Context) error {
	if j.uncertain != nil {
		return j.Resolve(ctx)
	}
	missed, err := j.readMissed(ctx)
	if err == nil {
		err = j.apply(missed, 0)
	}
	return err
}

// readMissed reads the entries that other processes appended.
func (j *Journal) readMissed(ctx context.Context) (missed []runlog.Entry, err error) {
	for batch, err := range j.hooks.Log.Read(ctx, j.id, j.Last) {
		if err != nil {
			return nil, err
		}
		missed = append(missed, batch...)
	}
	return missed, nil
}

// apply applies entries that were read from the log. This process appended the first own of them.
func (j *Journal) apply(entries []runlog.Entry, own int) error {
	for i, e := range entries {
		e, err := j.hooks.Load(j.id, e)
		if err != nil {
			return err
		}
		j.hooks.Apply(e, i < own)
	}
	return nil
}
