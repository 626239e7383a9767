package generators

import "sync/atomic"

// A waiterCount counts the goroutines that a run started with [Go] and those that
// wait for replies. Its methods accept a nil receiver.
type waiterCount struct {
	goroutines atomic.Int32 // running goroutines of Go
	waiting    atomic.Int32 // of those and the generator itself, waiting for replies
	// generatorWaits is true if, since the first of the running goroutines started,
	// the generator itself waited for a reply while all of them did.
	generatorWaits atomic.Bool
}

// addGoroutine counts a goroutine that starts. The caller holds r.mu.
func (r *Run) addGoroutine() *waiterCount {
	c := r.waiters.Load()
	if c == nil {
		c = new(waiterCount)
		r.waiters.Store(c)
	}
	if c.goroutines.Add(1) == 1 {
		c.generatorWaits.Store(false)
	}
	return c
}

// removeGoroutine uncounts a goroutine that has ended.
func (c *waiterCount) removeGoroutine() {
	if c != nil {
		c.goroutines.Add(-1)
	}
}

// beginWait counts a goroutine that waits for the call's reply, until endWait.
func (c *Call) beginWait() *waiterCount {
	if c.run == nil {
		return nil
	}
	all := c.run.waiters.Load()
	if all != nil && all.waiting.Add(1) > all.goroutines.Load() {
		all.generatorWaits.Store(true)
	}
	return all
}

func (c *waiterCount) endWait() {
	if c != nil {
		c.waiting.Add(-1)
	}
}

// Working reports whether some of the run's goroutines are not waiting for replies. It
// assumes that the generator itself waits for its goroutines, unless it has waited for
// a reply since the first of them started. It may be called from any goroutine.
func (r *Run) Working() bool {
	c := r.waiters.Load()
	if c == nil {
		return false
	}
	all := c.goroutines.Load()
	if c.generatorWaits.Load() {
		all++
	}
	return c.waiting.Load() < all
}
