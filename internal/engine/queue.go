package engine

import "sync"

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
