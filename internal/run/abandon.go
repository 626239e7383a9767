package run

import (
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// abandonment is a run's time without anybody who is known to come back to it.
type abandonment struct {
	after time.Duration
	timer *time.Timer
}

// Abandon has a run stopped once a time has passed in which nobody took it up.
// It is for a surface whose caller left the run with an open question, may come
// back to it, and may not: a question waits for days, but not for a client that
// has forgotten it. Calling it again sets the time anew; [Engine.Keep] takes it
// back, and so does the run's end.
//
// An answer takes the run up, wherever it comes from: the time begins anew. A
// run that somebody follows (a loop over [Engine.Follow], or [Engine.When]) is
// not stopped either: when the time has passed, it begins anew.
//
// It costs a timer a run, and nothing for runs without. The log doesn't have it:
// after a restart, a durable run waits until it is abandoned again. Abandoning a
// run that has ended is no error, nor is it while the engine closes, which is
// then what ends or suspends the run. The error is ErrNotFound or ErrForbidden.
func (e *Engine) Abandon(who Caller, id string, after time.Duration) error {
	r, err := e.find(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep()
	if !r.state.Ended() && e.taking.Err() == nil {
		r.abandon(after)
	}
	return nil
}

// Keep takes [Engine.Abandon] back: somebody came. A run that was not abandoned
// is kept anyway. The error is ErrNotFound or ErrForbidden.
func (e *Engine) Keep(who Caller, id string) error {
	r, err := e.find(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep()
	return nil
}

// abandon begins a time. Callers hold mu.
func (r *record) abandon(after time.Duration) {
	a := &abandonment{after: after}
	a.timer = time.AfterFunc(after, func() { r.forsake(a) })
	r.abandoned = a
}

// keep lets no time stop the run. Callers hold mu.
func (r *record) keep() {
	if r.abandoned != nil {
		r.abandoned.timer.Stop()
		r.abandoned = nil
	}
}

// takenUp begins the time of an abandoned run anew. Callers hold mu.
func (r *record) takenUp() {
	if a := r.abandoned; a != nil {
		r.keep()
		r.abandon(a.after)
	}
}

// forsake stops a run to which nobody came back.
func (r *record) forsake(a *abandonment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.abandoned != a: // somebody came just now
	case len(r.when) > 0 || r.readers.Load() > 0:
		r.takenUp()
	default:
		r.keep()
		r.end(log.Finished{Status: log.Stopped, Error: "nobody came back to it"})
	}
}
