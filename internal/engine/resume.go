package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A resumer resumes durable runs that have no generator. Its methods may be called from several
// goroutines.
type resumer struct{ *core }

// canResume reports whether the run is unfinished, durable and without a generator, so that it
// can be resumed in this process, or has waited to begin and is next.
func (r *trackedRun) canResume() bool {
	if r.Queued {
		return !r.resuming && !r.endPending && !r.State.Ended() && r.photon != nil && r.core.exclusive.IsFirst(exclusive.KeyOf(&r.Start), r.id)
	}
	return r.worker == nil && !r.resuming && !r.endPending && r.Start.Durable && !r.State.Ended() && r.photon != nil
}

// The bounds of the wait before the next attempt to resume a run.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// queue queues a run to be resumed, however many are answered at once. Attempts
// continue until the engine closes, since a log that can't be read or written now may recover; the
// next process then resumes the run. The first, second, fourth, eighth failure and so on are
// logged. Callers hold r.mu.
func (x resumer) queue(r *trackedRun) {
	r.resuming = true
	x.retries.Add(schedule.Job{Try: func() error { return x.try(r) }, Wait: minRetryWait, MaxWait: maxRetryWait, Failed: func(tries int, err error) {
		if tries&(tries-1) == 0 && x.acceptCtx.Err() == nil {
			x.logger.Error("resuming a run failed; will retry", "run", r.id, "attempt", tries, "err", err)
		}
	}})
}

// try resumes a run from its log. If it returns an error, the run is still
// marked as resuming, and tries again.
func (x resumer) try(r *trackedRun) (err error) {
	r.mu.Lock()
	r.resuming = false
	r.mu.Unlock()
	x.ensureChecked(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.canResume() || r.Parked != nil {
		return nil
	}
	if x.acceptCtx.Err() != nil {
		r.setInactive(true)
		return nil
	}
	r.resuming = true
	defer func() { r.resuming = err != nil }()
	ctx := x.acceptCtx                     // a read that hangs must not keep the engine from closing
	if err := r.Resolve(ctx); err != nil { // the last append may be the claim of an earlier attempt
		return err
	}
	err = x.replay(ctx, r)
	if !isUnrecoverable(err) {
		return err
	}
	x.logger.Error("resuming a run", "run", r.id, "err", err)
	return r.endRun(unreadableEnd(err))
}

// unreadableEnd is the end of a run whose history can't be read.
func unreadableEnd(err error) runlog.Finished {
	end := runlog.Finished{Status: runlog.Interrupted, Error: "Beam could not read what this run had done"}
	if damaged, ok := errors.AsType[*runlog.DamagedError](err); ok {
		end.Error += ": " + damaged.Error()
	}
	return end
}

// replay reads a run's history, claims the run and replays it. Callers hold r.mu.
func (x resumer) replay(ctx context.Context, r *trackedRun) error {
	h, err := x.readHistory(ctx, r, r.Last, r.answeredReply)
	if err == nil {
		err = x.resumeSource(ctx, r)
	}
	switch {
	case errors.Is(err, errSourceGone):
		return r.endRun(runlog.Finished{Status: runlog.Interrupted, Error: err.Error()})
	case err != nil:
		return err
	}
	return x.claimAndReplay(ctx, r, h)
}

// claimAndReplay claims a run for this process and launches its generator with
// the history h, which is complete up to the last entry. A run that was queued has no
// history: it begins. Callers hold r.mu.
func (x resumer) claimAndReplay(ctx context.Context, r *trackedRun, h *replay.History) error {
	lastRead, begins := r.Last, r.Queued
	err := r.Append(ctx, newClaim(x.program(), r.Epoch+1))
	if errors.Is(err, journal.ErrOver) {
		return nil // another process has claimed it
	}
	if err == nil && r.Last > lastRead+1 {
		h, err = x.readHistory(ctx, r, r.Last, r.answeredReply) // another process wrote before the claim
	}
	if err != nil {
		return err
	}
	r.Files.Measure()
	if begins {
		r.launchGenerator(h.Caller, nil, h.Args, nil)
	} else {
		r.launchGenerator(h.Caller, nil, h.Args, h)
	}
	return nil
}

// newClaim returns the claim of a worker in this process.
func newClaim(program string, epoch int) runlog.Entry {
	return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: epoch, Program: program, Goroutines: true})
}

// readHistory reads a run's history from its log, which has at least the entries up to known. It replies to answered calls with answered.
func (c *core) readHistory(ctx context.Context, r *trackedRun, known uint64, answered func(runlog.Answered) driver.Reply) (*replay.History, error) {
	h := replay.New(c.program, replay.Replies{Answered: answered, Withdrawn: withdrawnReply})
	last := uint64(0)
	for batch, err := range c.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = c.files.Load(r.id, entry); err != nil {
				return nil, err
			}
			if err := entry.Visit(h); err != nil {
				return nil, unreadableLogError{err}
			}
		}
	}
	if last < known {
		return nil, fmt.Errorf("the log ends at entry %d, but the run has %d", last, known)
	}
	return h, nil
}

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

// isUnchecked reports whether it isn't known whether a run fits this program: another program
// has recorded it, or parked it.
func (c *core) isUnchecked(id string, r *runstate.Run) bool {
	if c.readsOnly || c.ephemeral || !r.Start.Durable || r.State.Ended() || r.Queued {
		return false
	}
	by := r.Program
	if r.Parked != nil {
		by = r.Parked.Program
	}
	var was, is runlog.ParkedReason
	if r.Parked != nil && (r.Parked.Reason == runlog.ParkedMissing || r.Parked.Reason == runlog.ParkedVersion) {
		was = r.Parked.Reason
	}
	if _, parked := c.checkPhoton(&r.Start); parked != nil {
		is = parked.Reason
	}
	if was != is {
		return true // whatever the program: it may register photons as it likes
	}
	return (by == "" || by != c.program()) && !c.checked.Has(id, r.Epoch)
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
		if time.Since(began) < replay.RehearsalTime { // the machine was slow, and not the code
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
const maxListedCheck = replay.RehearsalTime / 4

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
	c.checked.Add(r.id, r.Epoch)
	return nil
}

// park records that the run doesn't fit this program. Callers hold mu.
func (c *core) park(r *trackedRun, p runlog.Parked) error {
	p.Program, p.Detail = c.program(), truncateText(p.Detail)
	c.logger.Warn("a run is parked", "run", r.id, "photon", r.Start.Photon, "reason", p.Reason, "detail", p.Detail)
	return r.Append(context.WithoutCancel(c.ctx), runlog.NewEntry(runlog.KindParked, p))
}

// parkDiffering parks the run of a worker whose generator does something else than the log has.
// What it has yielded since then isn't recorded. Callers hold mu.
func (c *core) parkDiffering(w *worker, differs error) {
	parked := parkedFor(differs)
	parked.Detail = w.secrets.Text(parked.Detail)
	w.batch.discard()
	err := w.retryTransient(func() error { return c.park(w.trackedRun, *parked) })
	if err != nil && !errors.Is(err, journal.ErrOver) && c.ctx.Err() == nil {
		c.logger.Error("parking a run", "run", w.id, "err", err)
	}
	c.checked.Add(w.id, w.Epoch)
}

// rehearse returns why a run doesn't fit this program, or nil if it does. It reports false if it
// doesn't find out in time, or can't without running a step. It needs no lock.
func (c *core) rehearse(ctx context.Context, r *trackedRun, last uint64, attempts map[string]*runstate.Attempt) (parked *runlog.Parked, decided bool, err error) {
	if _, parked := c.checkPhoton(&r.Start); parked != nil { // without reading the log
		return parked, true, nil
	}
	var secrets mask.Secrets
	h, err := c.readHistory(ctx, r, last, func(a runlog.Answered) driver.Reply {
		return r.replyTo(a, func(seq uint64, content []byte) { secrets = secrets.Add(seq, content) })
	})
	if err != nil {
		return nil, false, err
	}
	parked, decided = c.rehearseHistory(ctx, r.id, &r.Start, h, func() mask.Secrets { return secrets }, attempts)
	return parked, decided, nil
}

// checkPhoton returns the photon of a run that began so, or why the run can't go on with it, as far
// as that is known without the log.
func (c *core) checkPhoton(s *runlog.Started) (*generators.Photon, *runlog.Parked) {
	p, found := c.photons.Lookup(s.Photon)
	if !found {
		return nil, &runlog.Parked{Reason: runlog.ParkedMissing, Detail: "this program has no photon " + s.Photon}
	}
	if err := replay.CheckVersion(s, p); err != nil {
		return nil, &runlog.Parked{Reason: runlog.ParkedVersion, Detail: err.Error()}
	}
	return p, nil
}

// parkedFor returns how a run is parked whose replay differs from its log.
func parkedFor(differs error) *runlog.Parked {
	return &runlog.Parked{Reason: runlog.ParkedChanged, Detail: differs.Error()}
}
