package mcp

import "sync"

// A stepQueue makes the steps of a session's waiting calls, one after the
// other, on one goroutine: each sends what its run has recorded, and waits for
// nothing but the client to read it.
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
	q.done.Go(q.run)
	return q
}

// add queues a step. It never blocks. After the end it returns false, and the
// step is not made.
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

func (q *stepQueue) run() {
	for steps := q.take(); steps != nil; steps = q.take() {
		for _, step := range steps {
			step()
		}
	}
}

// take waits for steps and returns them all; nil at the end.
func (q *stepQueue) take() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.steps) == 0 && !q.ended {
		q.changed.Wait()
	}
	steps := q.steps
	q.steps = nil
	return steps
}

// end lets the goroutine end once the queue is empty; wait for it with done.
func (q *stepQueue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Signal()
}
