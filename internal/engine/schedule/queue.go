// Package schedule runs jobs for runs: few at a time, when their time has come, and again after
// they have failed.
package schedule

import "sync"

// maxConcurrent bounds how many jobs of a queue run at the same time.
const maxConcurrent = 32

// A Queue runs jobs in order, at most maxConcurrent at a time. Waiting jobs have no
// goroutines. Its methods may be called from several goroutines. The zero value is empty.
type Queue struct {
	mu      sync.Mutex
	jobs    []func()
	working int
}

// Add adds a job to the end of the queue.
func (q *Queue) Add(job func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	if q.working < maxConcurrent {
		q.working++
		go q.runJobs()
	}
}

// runJobs runs jobs until the queue is empty.
func (q *Queue) runJobs() {
	for job := q.takeJob(); job != nil; job = q.takeJob() {
		job()
	}
}

// takeJob removes the first job and returns it, or nil if there is none; the
// calling goroutine must then end.
func (q *Queue) takeJob() func() {
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
