package mcp

import "sync"

// A stepQueue runs the steps of followers, in order, on one goroutine: over stdio, of
// all calls of a session; over HTTP, of one call. A step waits for nothing but the
// client to read.
type stepQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	steps   []func()
	ended   bool
	done    sync.WaitGroup
}

func newStepQueue() *stepQueue {
	q := &stepQueue{}
	q.changed.L = &q.mu
	return q
}

// add queues a step without blocking. It reports false, and drops the step, once the
// queue has ended.
func (q *stepQueue) add(step func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	q.steps = append(q.steps, step)
	q.changed.Signal()
	return true
}

// start runs the steps on a goroutine.
func (q *stepQueue) start() { q.done.Go(q.run) }

// run runs the steps until the queue has ended and is empty.
func (q *stepQueue) run() {
	for steps := q.awaitSteps(); steps != nil; steps = q.awaitSteps() {
		for _, step := range steps {
			step()
		}
	}
}

// awaitSteps waits for steps and returns all of them, or nil once the queue has ended.
func (q *stepQueue) awaitSteps() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.steps) == 0 && !q.ended {
		q.changed.Wait()
	}
	steps := q.steps
	q.steps = nil
	return steps
}

// end makes run return once the queue is empty. To wait for a goroutine that start has
// started, wait on done.
func (q *stepQueue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Signal()
}
