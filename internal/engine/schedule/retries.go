package schedule

import (
	"sync"
	"time"
)

// A Job is tried until it returns no error.
type Job struct {
	Try func() error
	// Failed is called after each try that failed, if it isn't nil.
	Failed func(tries int, err error)
	// Wait is the time until the second try. It doubles with each one, up to MaxWait.
	Wait, MaxWait time.Duration

	tries int
	last  bool // the last try
}

// Retries run jobs, few at a time, until they succeed. Those that wait for the next try have no
// goroutines. The methods may be called from several goroutines. The zero value has none.
type Retries struct {
	queue Queue

	mu      sync.Mutex // guards what follows
	waiting map[*Job]*time.Timer
	closed  bool
}

// Add runs a job.
func (r *Retries) Add(j Job) { r.enqueue(&j) }

// AddLater runs a job after its first wait.
func (r *Retries) AddLater(j Job) {
	j.tries = 1
	r.wait(&j)
}

func (r *Retries) enqueue(j *Job) {
	r.queue.Add(func() {
		err := j.Try()
		if err == nil {
			return
		}
		j.tries++
		if j.Failed != nil {
			j.Failed(j.tries, err)
		}
		r.wait(j)
	})
}

// wait enqueues a job when its wait is over.
func (r *Retries) wait(j *Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.tryLast(j)
		return
	}
	if r.waiting == nil {
		r.waiting = make(map[*Job]*time.Timer)
	}
	wait := min(j.Wait<<min(j.tries-1, 10), j.MaxWait)
	r.waiting[j] = time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.closed {
			delete(r.waiting, j)
			r.enqueue(j)
		}
	})
}

// Close tries all jobs that wait a last time, without waiting for them.
func (r *Retries) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for j, t := range r.waiting {
		t.Stop()
		r.tryLast(j)
	}
	r.waiting = nil
}

// tryLast tries a job a last time.
func (r *Retries) tryLast(j *Job) {
	if !j.last {
		j.last = true
		r.enqueue(j)
	}
}
