package engine

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A durable run that another program recorded is rehearsed before anybody sees or answers its
// question: its generator runs up to there, without its steps, and nothing is recorded. A run
// that doesn't fit is parked. A program that fits, or the old one put back, finds that out in the
// same way, and goes on with the run.

// A ParkedError means that a run can't go on, because it doesn't fit its photon's code. It is
// [ErrParked] to errors.Is.
type ParkedError struct{ Parked *runlog.Parked }

func (e *ParkedError) Error() string {
	return "this run is parked, so that its questions can't be answered now: " + e.Parked.Detail + ". " + runlog.ParkedRemedy
}

// Is reports whether target is ErrParked.
func (e *ParkedError) Is(target error) bool { return target == ErrParked }

// isUnchecked reports whether a run has to be rehearsed; see [rehearsal.Program.IsUnchecked].
func (c *core) isUnchecked(id string, r *runstate.Run) bool {
	if c.readsOnly || c.ephemeral || !r.Start.Durable || r.State.Ended() || r.Queued {
		return false
	}
	return c.rehearsals.IsUnchecked(id, r) && c.share.Holds(r.Worker)
}

// ensureChecked finds out whether a run fits this program, unless that is known. One that doesn't
// is parked; one that was parked and fits goes on. An error is logged: the run stays as it is. It
// takes mu.
func (c *core) ensureChecked(r *trackedRun) {
	if done := c.startCheck(r); done != nil {
		<-done
	}
}

// startCheck starts what [core.ensureChecked] does, and returns what receives its end; nil if
// there is nothing to do.
func (c *core) startCheck(r *trackedRun) <-chan singleflight.Result {
	r.mu.Lock()
	unchecked := r.worker == nil && !r.resuming && !r.endPending && c.isUnchecked(r.id, &r.Run)
	r.mu.Unlock()
	if !unchecked || c.acceptCtx.Err() != nil {
		return nil
	}
	return c.checks.DoChan(r.id, func() (any, error) {
		began := time.Now()
		err := c.check(r)
		if time.Since(began) < rehearsal.MaxTime { // the machine was slow, and not the code
			c.slowPhotons.Delete(r.Start.Photon)
		}
		if err != nil && c.acceptCtx.Err() == nil {
			c.logger.Error("checking whether a run fits its photon", "run", r.id, "err", err)
		}
		return nil, nil
	})
}

// maxListedCheck is how long a list waits for the check of a run. If that isn't enough, lists show
// the runs of its photon as they are; who opens one waits for its check.
const maxListedCheck = rehearsal.MaxTime / 4

// checkListed returns the run of a row if it is in memory, or has to be checked before it is
// listed; otherwise nil.
func (l lists) checkListed(row *runlist.Row) *trackedRun {
	r := l.residents.find(row.ID)
	if _, slow := l.slowPhotons.Load(row.Start.Photon); slow {
		return r
	}
	if r == nil && l.isUnchecked(row.ID, &row.Run) {
		r, _ = l.load(row.ID) // the list shows the row if that fails
	}
	if r == nil {
		return nil
	}
	if l.share != nil && l.update(r) != nil {
		return nil
	}
	if done := l.startCheck(r); done != nil {
		select {
		case <-done:
		case <-time.After(maxListedCheck):
			l.slowPhotons.Store(row.Start.Photon, nil)
		}
	}
	return r
}

// check rehearses a run, and parks it or lets it go on. It takes mu.
func (c *core) check(r *trackedRun) error {
	r.mu.Lock()
	last, attempts := r.Last, r.Clone().Attempts
	r.mu.Unlock()
	parked, decided, err := c.rehearse(c.acceptCtx, r, last, attempts)
	if err != nil {
		return err
	}
	if !decided {
		c.logger.Info("a rehearsal doesn't tell whether a run fits its photon", "run", r.id, "photon", r.Start.Photon)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.photon, _ = c.photons.Lookup(r.Start.Photon)
	if r.Last != last || r.worker != nil || r.resuming || r.State.Ended() || c.acceptCtx.Err() != nil {
		return nil // somebody has gone on meanwhile; who looks next checks again
	}
	switch was := r.Parked; {
	case parked != nil && (was == nil || was.Reason != parked.Reason || was.Detail != parked.Detail):
		if err := c.park(r, *parked); err != nil {
			return err
		}
	case parked == nil && was != nil && r.canResume():
		c.logger.Info("a parked run fits this program, and goes on", "run", r.id, "photon", r.Start.Photon)
		return resumer{c}.replay(c.acceptCtx, r) // who looks next tries again if that fails
	}
	c.rehearsals.NoteChecked(r.id, &r.Run)
	return nil
}

// NewProgram returns a program that runs are rehearsed on, which needs no log. Of the options, it needs
// Photons, Program and Root.
func NewProgram(o Options) *rehearsal.Program { return newCore(o).rehearsals }

// park records that the run doesn't fit this program. Callers hold mu.
func (c *core) park(r *trackedRun, p runlog.Parked) error {
	p.Program, p.Detail = c.program(), truncateText(p.Detail)
	c.logger.Warn("a run is parked", "run", r.id, "photon", r.Start.Photon, "reason", p.Reason, "detail", p.Detail)
	return r.Append(context.WithoutCancel(c.ctx), runlog.NewEntry(runlog.KindParked, p))
}

// parkDiffering parks the run of a worker whose generator does something else than the log has.
// What it has yielded since then isn't recorded. Callers hold mu.
func (c *core) parkDiffering(w *worker, differs error) {
	parked := rehearsal.ParkedFor(differs, w.secrets)
	w.batch.discard()
	err := w.retryTransient(func() error { return c.park(w.trackedRun, *parked) })
	if err != nil && !errors.Is(err, journal.ErrOver) && c.ctx.Err() == nil {
		c.logger.Error("parking a run", "run", w.id, "err", err)
	}
	c.rehearsals.NoteChecked(w.id, &w.Run)
}

// rehearse returns why a run doesn't fit this program, or nil if it does. It reports false if it
// doesn't find out in time, or can't without running a step. It needs no lock.
func (c *core) rehearse(ctx context.Context, r *trackedRun, last uint64, attempts map[string]*runstate.Attempt) (parked *runlog.Parked, decided bool, err error) {
	if parked := c.rehearsals.CheckStart(&r.Start); parked != nil { // without reading the log
		return parked, true, nil
	}
	var secrets mask.Secrets
	h, err := c.readHistory(ctx, r, last, func(a runlog.Answered) driver.Reply {
		return r.replyTo(a, func(seq uint64, content []byte) { secrets = secrets.Add(seq, content) })
	})
	if err != nil {
		return nil, false, err
	}
	parked, decided = c.rehearsals.Rehearse(ctx, rehearsal.Run{ID: r.id, Start: &r.Start, History: h, Attempts: attempts, Secrets: func() mask.Secrets { return secrets }})
	return parked, decided, nil
}
