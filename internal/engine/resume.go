package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
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
	return r.worker == nil && !r.resuming && !r.endPending && r.Start.Durable && !r.State.Ended() && r.photon != nil && r.core.share.Holds(r.Worker)
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
	if _, err := x.share.AwaitLease(ctx); err != nil {
		return err
	}
	err := r.Append(ctx, x.newClaim(r.Epoch+1))
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
func (c *core) newClaim(epoch int) runlog.Entry {
	return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: epoch, Program: c.program(), Worker: c.share.Worker(), Goroutines: true})
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

// sharedRuns keeps the runs up to date with what other processes do; see [sharing.Runs].
type sharedRuns struct{ resumer }

var _ sharing.Runs = sharedRuns{}

func (x sharedRuns) InMemory() (ids []string) {
	for _, r := range x.residents.all() {
		ids = append(ids, r.id)
	}
	return ids
}

func (x sharedRuns) CatchUp(run string, last uint64, found bool) bool {
	r := x.residents.find(run)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.catchUp(last, found); err != nil && x.acceptCtx.Err() == nil {
		x.logger.Error("reading what another process has done", "run", run, "err", err)
	}
	return true
}

func (x sharedRuns) NoteChange(run string) {
	row, err := x.rows.Row(x.acceptCtx, run)
	if err != nil {
		return // it was deleted, perhaps; lists are shown anew soon
	}
	x.watchers.Notify(row.Owner())
	x.deadlines.Note(row.Due())
	if row.Worker == x.share.Worker() && !row.IsAtRest() {
		x.recoverOrLog(run)
	}
}

func (x sharedRuns) RecoverHeld() error {
	seen := sharing.Seen{Working: make(map[string]int), Abandoned: make(map[string]int)}
	for row, err := range pages.Each(x.rows.Unfinished, pages.StartOf) {
		if err != nil {
			return err
		}
		if row.State == Running && !row.Queued {
			seen.Working[row.Worker]++
		}
		if x.acceptCtx.Err() == nil && x.share.Holds(row.Worker) && !x.isHere(row) {
			if row.Worker != x.share.Worker() && row.Parked == nil && !row.Queued {
				seen.Abandoned[row.Start.Photon]++
			}
			x.recoverOrLog(row.ID)
		}
	}
	x.share.Note(seen)
	return x.exclusive.Resume()
}

// isHere reports whether there is nothing to do for an unfinished run: it has its generator here, or
// doesn't fit this program.
func (x sharedRuns) isHere(row *runlist.Row) bool {
	if row.Parked != nil && row.Parked.Program == x.program() {
		return true
	}
	r := x.residents.find(row.ID)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worker != nil || r.resuming || r.endPending
}

func (x sharedRuns) RefreshLists() { x.watchers.NotifyAll() }

// handOver suspends a durable run that is in no step, so that another process goes on with it. It takes mu.
func handOver(r *trackedRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.worker == nil || !r.Start.Durable || len(r.worker.runningSteps) > 0 {
		return nil
	}
	err := r.flushAndAppend(context.WithoutCancel(r.core.ctx))
	r.stopGenerator(generators.ErrSuspended)
	r.setInactive(true)
	if IsTransient(err) || errors.Is(err, journal.ErrOver) {
		return nil // what isn't recorded is yielded again elsewhere
	}
	return err
}
