package engine

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// deadlines expire open questions and end sleeps when they are due, as their rows say. If many
// are due at once, few are handled at a time. The methods may be called from several
// goroutines.
type deadlines struct {
	engine *Engine
	passed queue

	mu     sync.Mutex
	timer  *time.Timer // nil before start
	next   time.Time   // when the timer fires; zero while what is due is being handled
	noted  time.Time   // the first that was noted meanwhile
	closed bool
}

// maxTimerDelay bounds the delay of the timer, because a timer stands still while the
// machine is suspended, and the time doesn't.
const maxTimerDelay = time.Minute

// start begins to handle what is due.
func (d *deadlines) start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil && !d.closed {
		d.timer = time.AfterFunc(0, d.handleDue)
	}
}

// stop ends that.
func (d *deadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// note notes that something has become due at a time; zero means never.
func (d *deadlines) note(due time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case due.IsZero() || d.closed:
	case d.timer == nil: // start reads the rows
	case d.next.IsZero():
		d.noted = earliest(d.noted, due)
	case due.Before(d.next):
		d.setTimer(due)
	}
}

// setTimer sets the timer for a time. Callers hold mu.
func (d *deadlines) setTimer(at time.Time) {
	d.next = at
	d.timer.Reset(min(max(time.Until(at), 0), maxTimerDelay))
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// handleDue handles what is due, and sets the timer for what will be due next.
func (d *deadlines) handleDue() {
	d.mu.Lock()
	d.next, d.noted = time.Time{}, time.Time{}
	d.mu.Unlock()
	next, err := d.handleRuns(time.Now())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return // and the store may be, too
	}
	if err != nil {
		d.engine.logger.Error("finding out what is due", "err", err)
		next = time.Now().Add(retryInterval)
	}
	d.setTimer(earliest(d.noted, next))
}

// handleRuns handles what is due at a time, and returns when it is to be called again.
func (d *deadlines) handleRuns(now time.Time) (next time.Time, err error) {
	next = now.Add(maxTimerDelay)
	var handling sync.WaitGroup
	var mu sync.Mutex
	for row, err := range eachRow(d.engine.rows.Due, (*runlist.Row).Due) {
		if err != nil {
			return next, err
		}
		if due := row.Due(); due.After(now) {
			next = earliest(next, due)
			break
		}
		handling.Add(1)
		d.passed.add(func() {
			defer handling.Done()
			if wait := d.engine.handleDeadlines(row.ID, now); wait > 0 {
				mu.Lock()
				defer mu.Unlock()
				next = earliest(next, time.Now().Add(wait))
			}
		})
	}
	handling.Wait()
	return next, nil
}

// handleDeadlines expires the questions of a run that are due, and ends its sleeps. If that
// can't be recorded, it returns how long to wait before another attempt.
func (e *Engine) handleDeadlines(run string, now time.Time) (wait time.Duration) {
	r, err := e.load(run)
	if err != nil {
		return e.retryDeadline(run, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range slices.Clone(r.Asks) {
		if !a.Deadline.IsZero() && !a.Deadline.After(now) {
			wait = max(wait, e.retryDeadline(run, r.expireAsk(a)))
		}
	}
	for _, s := range slices.Clone(r.Sleeps) {
		if !s.Until.After(now) {
			wait = max(wait, e.retryDeadline(run, r.endSleep(s)))
		}
	}
	return wait
}

// retryDeadline returns how long to wait after an error before the next attempt; 0 if there is
// nothing more to do.
func (e *Engine) retryDeadline(run string, err error) time.Duration {
	switch {
	case err == nil || e.ctx.Err() != nil || errors.Is(err, ErrSettled) || errors.Is(err, journal.ErrOver) || errors.Is(err, ErrRunNotFound):
		return 0
	case IsTransient(err):
		return retryInterval
	}
	e.logger.Error("expiring a question, or ending a sleep", "run", run, "err", err)
	return maxRetryWait
}

// expireAsk withdraws a question whose deadline has passed. Callers hold mu.
func (r *trackedRun) expireAsk(a *runstate.Ask) error {
	if r.FindAsk(a.Seq) != a {
		return nil
	}
	return r.recordSettlement(r.engine.ctx, a.Seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.Expired}))
}

// deadlineAfter returns the deadline of a question that is asked now; zero if the
// question doesn't expire.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
