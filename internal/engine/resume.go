package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
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
	defer r.mu.Unlock()
	r.resuming = false
	if !r.canResume() {
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
	h, err := x.readHistory(ctx, r)
	if err != nil {
		return err
	}
	return x.claimAndReplay(ctx, r, h)
}

// claimAndReplay claims a run for this process and launches its generator with
// the history h, which is complete up to the last entry. A run that was queued has no
// history: it begins. Callers hold r.mu.
func (x resumer) claimAndReplay(ctx context.Context, r *trackedRun, h *replay.History) error {
	if err := checkArguments(r.photon, h.Args); err != nil {
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: err.Error()})
	}
	lastRead, begins := r.Last, r.Queued
	err := r.Append(ctx, newClaim(x.program(), r.Epoch+1))
	if errors.Is(err, journal.ErrOver) {
		return nil // another process has claimed it
	}
	if err == nil && r.Last > lastRead+1 {
		h, err = x.readHistory(ctx, r) // another process wrote before the claim
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

// readHistory reads a run's history from its log.
func (x resumer) readHistory(ctx context.Context, r *trackedRun) (*replay.History, error) {
	h := replay.New(x.program, replay.Replies{Answered: r.answeredReply, Withdrawn: withdrawnReply})
	last := uint64(0)
	for batch, err := range x.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = x.files.Load(r.id, entry); err != nil {
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
func checkVersion(s *runlog.Started, p *generators.Photon) error {
	then, now := s.Version, p.Options().Version
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
func checkArguments(p *generators.Photon, args json.RawMessage) error {
	_, err := p.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return replay.ToolChangedErrorf("its arguments are no longer valid: %v", invalid)
}
