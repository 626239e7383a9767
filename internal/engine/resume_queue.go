package engine

import (
	"sync"
	"time"
)

// The bounds of the wait before the next attempt to resume a run.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// A resumeQueue resumes runs, few at a time, however many are answered at once. Its
// methods may be called from several goroutines.
type resumeQueue struct {
	pending queue
	mu      sync.Mutex
	retries map[*resumeAttempt]*time.Timer // attempts that wait for the next try
}

// A resumeAttempt is a run to resume, and how many attempts have failed.
type resumeAttempt struct {
	*trackedRun
	failures int
}

// retryWait returns the wait before the next try, which doubles with each failure.
func (a *resumeAttempt) retryWait() time.Duration {
	return min(minRetryWait<<min(a.failures-1, 10), maxRetryWait)
}

// queueResume queues the run to be resumed. Callers hold mu.
func (r *trackedRun) queueResume() {
	r.resuming = true
	r.engine.resumes.enqueue(&resumeAttempt{trackedRun: r})
}

// enqueue queues an attempt.
func (q *resumeQueue) enqueue(a *resumeAttempt) {
	q.pending.add(func() {
		if err := a.tryResume(); err != nil {
			q.scheduleRetry(a, err)
		}
	})
}

// scheduleRetry schedules the next attempt after one that failed, since a log that
// can't be read or written now may recover. Attempts continue until the engine
// closes; the next process then resumes the run. The first, second, fourth, eighth
// failure and so on are logged.
func (q *resumeQueue) scheduleRetry(a *resumeAttempt, err error) {
	e := a.engine
	a.failures++
	if a.failures&(a.failures-1) == 0 && e.acceptCtx.Err() == nil {
		e.logger.Error("resuming a run failed; will retry", "run", a.id, "attempt", a.failures, "err", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.acceptCtx.Err() != nil {
		q.enqueue(a)
		return
	}
	q.retries[a] = time.AfterFunc(a.retryWait(), func() { q.queueRetry(a) })
}

// queueRetry queues an attempt whose wait is over.
func (q *resumeQueue) queueRetry(a *resumeAttempt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.retries, a)
	q.enqueue(a)
}

// queueAllRetries queues all waiting attempts without further delay. The engine is
// closing, so that they only mark their runs inactive.
func (q *resumeQueue) queueAllRetries() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for a, t := range q.retries {
		if t.Stop() {
			delete(q.retries, a)
			q.enqueue(a)
		}
	}
}

// maxConcurrent bounds how many runs are resumed, and how many questions expire, at
// the same time.
const maxConcurrent = 32

// A queue runs jobs in order, at most maxConcurrent at a time. Waiting jobs have no
// goroutines. Its methods may be called from several goroutines.
type queue struct {
	mu      sync.Mutex
	jobs    []func()
	working int
}

// add adds a job to the end of the queue.
func (q *queue) add(job func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	if q.working < maxConcurrent {
		q.working++
		go q.runJobs()
	}
}

// runJobs runs jobs until the queue is empty.
func (q *queue) runJobs() {
	for job := q.takeJob(); job != nil; job = q.takeJob() {
		job()
	}
}

// takeJob removes the first job and returns it, or nil if there is none; the
// calling goroutine must then end.
func (q *queue) takeJob() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		q.jobs = nil
		q.working--
		return nil
	}
	job := q.jobs[0]
	q.jobs[0] = nil
	q.jobs = q.jobs[1:]
	return job
}
