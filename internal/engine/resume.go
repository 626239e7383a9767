package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlog"
)

// canResume reports whether the run is unfinished, durable and without a generator,
// so that it can be resumed in this process, or has waited to begin and is next. Callers
// hold mu.
func (r *trackedRun) canResume() bool {
	if r.Queued {
		return !r.resuming && !r.endPending && !r.State.Ended() && r.photon != nil && r.core.exclusive.isFirst(r)
	}
	return r.worker == nil && !r.resuming && !r.endPending && r.Start.Durable && !r.State.Ended() && r.photon != nil
}

// The bounds of the wait before the next attempt to resume a run.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// queueResume queues the run to be resumed, however many are answered at once. Attempts
// continue until the engine closes, since a log that can't be read or written now may recover; the
// next process then resumes the run. The first, second, fourth, eighth failure and so on are
// logged. Callers hold mu.
func (r *trackedRun) queueResume() {
	r.resuming = true
	e := r.core
	e.retries.Add(schedule.Job{Try: r.tryResume, Wait: minRetryWait, MaxWait: maxRetryWait, Failed: func(tries int, err error) {
		if tries&(tries-1) == 0 && e.acceptCtx.Err() == nil {
			e.logger.Error("resuming a run failed; will retry", "run", r.id, "attempt", tries, "err", err)
		}
	}})
}

// tryResume resumes the run from its log. If it returns an error, the run is still
// marked as resuming, and tries again.
func (r *trackedRun) tryResume() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resuming = false
	if !r.canResume() {
		return nil
	}
	if r.core.acceptCtx.Err() != nil {
		r.setInactive(true)
		return nil
	}
	r.resuming = true
	defer func() { r.resuming = err != nil }()
	ctx := r.core.acceptCtx                // a read that hangs must not keep the engine from closing
	if err := r.Resolve(ctx); err != nil { // the last append may be the claim of an earlier attempt
		return err
	}
	err = r.replayFromLog(ctx)
	if !isUnrecoverable(err) {
		return err
	}
	r.core.logger.Error("resuming a run", "run", r.id, "err", err)
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

// replayFromLog reads the run's history, claims the run and replays it. Callers
// hold mu.
func (r *trackedRun) replayFromLog(ctx context.Context) error {
	h, err := r.readHistory(ctx)
	if err != nil {
		return err
	}
	return r.claimAndReplay(ctx, h)
}

// claimAndReplay claims the run for this process and launches its generator with
// the history h, which is complete up to the last entry. A run that was queued has no
// history: it begins. Callers hold mu.
func (r *trackedRun) claimAndReplay(ctx context.Context, h *replay.History) error {
	if err := r.checkArguments(h.Args); err != nil {
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: err.Error()})
	}
	lastRead, begins := r.Last, r.Queued
	err := r.Append(ctx, r.core.newClaim(r.Epoch+1))
	if errors.Is(err, journal.ErrOver) {
		return nil // another process has claimed it
	}
	if err == nil && r.Last > lastRead+1 {
		h, err = r.readHistory(ctx) // another process wrote before the claim
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
	return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: epoch, Program: c.program(), Goroutines: true})
}

// readHistory reads the run's history from its log.
func (r *trackedRun) readHistory(ctx context.Context) (*replay.History, error) {
	h := replay.New(r.core.program, replay.Replies{Answered: r.answeredReply, Withdrawn: withdrawnReply})
	last := uint64(0)
	for batch, err := range r.core.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = r.core.files.Load(r.id, entry); err != nil {
				return nil, err
			}
			if err := entry.Visit(h); err != nil {
				return nil, unreadableLogError{err}
			}
		}
	}
	if last < r.Last {
		return nil, fmt.Errorf("the log ends at entry %d, but the run has %d", last, r.Last)
	}
	return h, nil
}

// checkVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func (r *trackedRun) checkVersion() error {
	then, now := r.Start.Version, r.photon.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "an unnamed version"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return replay.ToolChangedErrorf("it was version %q then, and is %s now", then, now)
}

// checkArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func (r *trackedRun) checkArguments(args json.RawMessage) error {
	_, err := r.photon.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return replay.ToolChangedErrorf("its arguments are no longer valid: %v", invalid)
}
