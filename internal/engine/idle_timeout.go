package engine

import (
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// An idleTimeout stops a run that nobody follows or answers.
type idleTimeout struct {
	duration time.Duration
	timer    *time.Timer
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
	r.stopIdleTimer()
	if !r.State.Ended() && e.acceptCtx.Err() == nil {
		r.startIdleTimer(timeout)
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
	r.stopIdleTimer()
	return nil
}

// startIdleTimer starts a new timeout. Callers hold mu.
func (r *trackedRun) startIdleTimer(d time.Duration) {
	t := &idleTimeout{duration: d}
	t.timer = time.AfterFunc(d, func() { r.stopIdleRun(t) })
	r.idleTimer = t
}

// stopIdleTimer removes the run's timeout, if any. Callers hold mu.
func (r *trackedRun) stopIdleTimer() {
	if r.idleTimer != nil {
		r.idleTimer.timer.Stop()
		r.idleTimer = nil
	}
}

// restartIdleTimer restarts the run's timeout, if any. Callers hold mu.
func (r *trackedRun) restartIdleTimer() {
	if t := r.idleTimer; t != nil {
		r.stopIdleTimer()
		r.startIdleTimer(t.duration)
	}
}

// stopIdleRun stops the run when a timeout expires, unless the timeout has been
// replaced or the run is being followed.
func (r *trackedRun) stopIdleRun(t *idleTimeout) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.idleTimer != t:
	case len(r.waiters) > 0 || r.readerCount.Load() > 0:
		r.restartIdleTimer()
	default:
		r.stopIdleTimer()
		r.endRun(runlog.Finished{Status: runlog.Stopped, Error: "no client came back to the run"})
	}
}
