package engine

import "sync"

// maxConcurrent is how many runs are taken up again, and how many questions expire, at
// the same time.
const maxConcurrent = 32

// A queue does jobs in their order, at most atOnce at a time. Those that wait
// have no goroutines. Its methods may be called from several goroutines.
type queue struct {
	mu      sync.Mutex
	jobs    []func()
	working int
}

// add has a job done when its turn has come.
func (q *queue) add(job func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	if q.working < maxConcurrent {
		q.working++
		go q.runJobs()
	}
}

func (q *queue) runJobs() {
	for job := q.takeJob(); job != nil; job = q.takeJob() {
		job()
	}
}

// next is nil when there is nothing left, and the caller then works no more.
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
