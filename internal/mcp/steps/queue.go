// Package steps runs functions one after the other.
package steps

import "sync"

// A Queue runs steps, in order, on one goroutine. Its methods may be called
// concurrently, except for Run.
type Queue struct {
	mu      sync.Mutex
	changed sync.Cond
	steps   []func()
	ended   bool
	done    sync.WaitGroup
}

// NewQueue returns an empty queue, whose steps don't run yet.
func NewQueue() *Queue {
	q := &Queue{}
	q.changed.L = &q.mu
	return q
}

// Add queues a step without blocking. It reports false, and drops the step, once the
// queue has ended.
func (q *Queue) Add(step func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	q.steps = append(q.steps, step)
	q.changed.Signal()
	return true
}

// Start runs the steps on a goroutine.
func (q *Queue) Start() { q.done.Go(q.Run) }

// Run runs the steps until the queue has ended and is empty.
func (q *Queue) Run() {
	for steps := q.awaitSteps(); steps != nil; steps = q.awaitSteps() {
		for _, step := range steps {
			step()
		}
	}
}

// awaitSteps waits for steps and returns all of them, or nil once the queue has ended.
func (q *Queue) awaitSteps() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.steps) == 0 && !q.ended {
		q.changed.Wait()
	}
	steps := q.steps
	q.steps = nil
	return steps
}

// End makes Run return once the queue is empty. To wait for a goroutine that Start has
// started, call Wait.
func (q *Queue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Signal()
}

// Wait waits until a goroutine that Start has started returns.
func (q *Queue) Wait() { q.done.Wait() }
