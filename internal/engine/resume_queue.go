package engine

import (
	"sync"
	"time"
)

// How long it takes until a run that could not be taken up is tried again: at
// first, and at most.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// resumeQueue are the runs that are to be taken up again. However many are answered
// at once, few are read back at a time.
type resumeQueue struct {
	pending queue
	mu      sync.Mutex
	retries map[*resumeAttempt]*time.Timer // those that wait for their next try
}

// A resumeAttempt is a run that is to be taken up, after some tries that failed.
type resumeAttempt struct {
	*trackedRun
	failures int
}

// retryWait is how long the next try waits: twice as long as the one before.
func (a *resumeAttempt) retryWait() time.Duration {
	return min(minRetryWait<<min(a.failures-1, 10), maxRetryWait)
}

// queueResume has a run taken up again soon. Callers hold mu.
func (r *trackedRun) queueResume() {
	r.resuming = true
	r.engine.resumes.enqueue(&resumeAttempt{trackedRun: r})
}

func (p *resumeQueue) enqueue(a *resumeAttempt) {
	p.pending.add(func() {
		if err := a.tryResume(); err != nil {
			p.scheduleRetry(a, err)
		}
	})
}

// scheduleRetry has a run tried again that could not be taken up. What can't be read or
// written now may be later: it is tried until the engine closes, and the next
// process takes the run up. Tries that fail are logged ever more seldom.
func (p *resumeQueue) scheduleRetry(a *resumeAttempt, err error) {
	e := a.engine
	a.failures++
	if a.failures&(a.failures-1) == 0 && e.acceptCtx.Err() == nil {
		e.logger.Error("taking a run up again; it is tried anew", "run", a.id, "try", a.failures, "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.acceptCtx.Err() != nil {
		p.enqueue(a)
		return
	}
	p.retries[a] = time.AfterFunc(a.retryWait(), func() { p.queueDueRetries(a) })
}

// queueDueRetries makes the next try.
func (p *resumeQueue) queueDueRetries(a *resumeAttempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.retries, a)
	p.enqueue(a)
}

// queueAllRetries tries all runs that wait for their next try: the engine closes, and
// takes none of them up any more.
func (p *resumeQueue) queueAllRetries() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a, t := range p.retries {
		if t.Stop() {
			delete(p.retries, a)
			p.enqueue(a)
		}
	}
}
