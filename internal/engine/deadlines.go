package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// handleDeadlines expires the questions of a run that are due, and ends its sleeps. If that
// can't be recorded, it returns how long to wait before another attempt.
func (x questions) handleDeadlines(run string, now time.Time) (wait time.Duration) {
	r, err := x.load(run)
	if err != nil {
		return x.retryDeadline(run, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range slices.Clone(r.Asks) {
		if !a.Deadline.IsZero() && !a.Deadline.After(now) {
			wait = max(wait, x.retryDeadline(run, x.expireAsk(r, a)))
		}
	}
	for _, s := range slices.Clone(r.Sleeps) {
		if !s.Until.After(now) {
			wait = max(wait, x.retryDeadline(run, x.endSleep(r, s)))
		}
	}
	return wait
}

// retryDeadline returns how long to wait after an error before the next attempt; 0 if there is
// nothing more to do.
func (x questions) retryDeadline(run string, err error) time.Duration {
	switch {
	case err == nil || x.ctx.Err() != nil || errors.Is(err, ErrSettled) || errors.Is(err, journal.ErrOver) || errors.Is(err, ErrRunNotFound):
		return 0
	case IsTransient(err):
		return retryInterval
	}
	x.logger.Error("expiring a question, or ending a sleep", "run", run, "err", err)
	return maxRetryWait
}

// expireAsk withdraws a question whose deadline has passed. Callers hold r.mu.
func (x questions) expireAsk(r *trackedRun, a *runstate.Ask) error {
	if r.FindAsk(a.Seq) != a {
		return nil
	}
	return x.settle(x.ctx, r, a.Seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.Expired}))
}

// deadlineAfter returns the deadline of a question that is asked now; zero if the
// question doesn't expire.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}

// endSleep records the end of a sleep whose time has come. Callers hold r.mu.
func (x questions) endSleep(r *trackedRun, s *runstate.Sleep) error {
	ctx := x.ctx
	// If another process has claimed the run, the batch is obsolete, but the sleep may
	// still be in progress.
	if err := r.flushAndAppend(ctx); err != nil && !r.isSuperseded(err) {
		return err
	}
	if r.FindSleep(s.Seq) != s {
		return nil
	}
	return r.Append(ctx, runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: s.Seq}))
}
