package engine

import (
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// An idleTimer expires when nobody has followed or answered a run for a while. The run's lock
// guards it. The zero value never expires.
type idleTimer struct {
	after time.Duration
	due   time.Time
	timer *time.Timer // nil if it is stopped
}

// start starts the timer, which calls expired with no lock held.
func (t *idleTimer) start(after time.Duration, expired func()) {
	t.stop()
	t.after, t.due, t.timer = after, time.Now().Add(after), time.AfterFunc(after, expired)
}

// restart restarts the timer, unless it is stopped.
func (t *idleTimer) restart() {
	if t.timer != nil {
		t.due = time.Now().Add(t.after)
		t.timer.Reset(t.after)
	}
}

// isDue reports whether the timer has expired, and wasn't stopped or restarted since.
func (t *idleTimer) isDue() bool { return t.timer != nil && !time.Now().Before(t.due) }

// stop stops the timer.
func (t *idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

// SetIdleTimeout stops a run after a time in which nobody followed or answered it.
// It is for a surface whose client has left the run with an open question and
// may not come back: a question otherwise waits for days. Calling the method
// again replaces the timeout; [Engine.ClearIdleTimeout] and the run's end remove
// it.
//
// An answer from any surface restarts the timeout. A run that is being followed,
// by a loop over [Engine.Follow] or a [Waiter], is not stopped: when the timeout
// expires, it restarts.
//
// Only runs with a timeout have a timer. The timeout isn't recorded: after a
// restart, a durable run has none until it is set again. Setting the timeout of
// a run that has ended, or while the engine is closing, does nothing. The error
// is [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) SetIdleTimeout(caller generators.Caller, id string, timeout time.Duration) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.stop()
	if !r.State.Ended() && e.acceptCtx.Err() == nil {
		r.idle.start(timeout, r.stopIfIdle)
	}
	return nil
}

// ClearIdleTimeout removes the timeout that [Engine.SetIdleTimeout] has set, if
// any. The error is [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) ClearIdleTimeout(caller generators.Caller, id string) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.stop()
	return nil
}

// stopIfIdle stops the run when its idle timer has expired, unless it is being followed.
func (r *trackedRun) stopIfIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.idle.isDue():
	case len(r.waiters) > 0 || r.readerCount.Load() > 0:
		r.idle.restart()
	default:
		r.idle.stop()
		r.endRun(runlog.Finished{Status: runlog.Stopped, Error: "no client came back to the run"})
	}
}
