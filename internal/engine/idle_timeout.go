package engine

import (
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// idleTimeout is a run's time without anybody who is known to come back to it.
type idleTimeout struct {
	duration time.Duration
	timer    *time.Timer
}

// SetIdleTimeout has a run stopped once a time has passed in which nobody took it up.
// It is for a surface whose caller left the run with an open question, may come
// back to it, and may not: a question waits for days, but not for a client that
// has forgotten it. Calling it again sets the time anew; [Engine.ClearIdleTimeout] takes it
// back, and so does the run's end.
//
// An answer takes the run up, wherever it comes from: the time begins anew. A
// run that somebody follows (a loop over [Engine.Follow], or [Engine.AddWaiter]) is
// not stopped either: when the time has passed, it begins anew.
//
// It costs a timer a run, and nothing for runs without. The log doesn't have it:
// after a restart, a durable run waits until it is abandoned again. Abandoning a
// run that has ended is no error, nor is it while the engine closes, which is
// then what ends or suspends the run. The error is ErrNotFound or ErrForbidden.
func (e *Engine) SetIdleTimeout(who Caller, id string, after time.Duration) error {
	r, err := e.findRun(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopIdleTimer()
	if !r.state.Ended() && e.acceptCtx.Err() == nil {
		r.startIdleTimer(after)
	}
	return nil
}

// ClearIdleTimeout takes [Engine.SetIdleTimeout] back: somebody came. A run that was not abandoned
// is kept anyway. The error is ErrNotFound or ErrForbidden.
func (e *Engine) ClearIdleTimeout(who Caller, id string) error {
	r, err := e.findRun(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopIdleTimer()
	return nil
}

// startIdleTimer begins a time. Callers hold mu.
func (r *trackedRun) startIdleTimer(after time.Duration) {
	a := &idleTimeout{duration: after}
	a.timer = time.AfterFunc(after, func() { r.stopIdleRun(a) })
	r.idleTimer = a
}

// stopIdleTimer lets no time stop the run. Callers hold mu.
func (r *trackedRun) stopIdleTimer() {
	if r.idleTimer != nil {
		r.idleTimer.timer.Stop()
		r.idleTimer = nil
	}
}

// restartIdleTimer begins the time of an abandoned run anew. Callers hold mu.
func (r *trackedRun) restartIdleTimer() {
	if a := r.idleTimer; a != nil {
		r.stopIdleTimer()
		r.startIdleTimer(a.duration)
	}
}

// stopIdleRun stops a run to which nobody came back.
func (r *trackedRun) stopIdleRun(a *idleTimeout) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.idleTimer != a: // somebody came just now
	case len(r.waiters) > 0 || r.readerCount.Load() > 0:
		r.restartIdleTimer()
	default:
		r.stopIdleTimer()
		r.endRun(runlog.Finished{Status: runlog.Stopped, Error: "nobody came back to it"})
	}
}
