package generators

import "sync/atomic"

// A waiterCount counts the goroutines of a run that started some with [Go]. Its
// methods may be called on nil.
type waiterCount struct {
	goroutines atomic.Int32 // by Go, and not ended
	waiting    atomic.Int32 // for replies, of those and the generator itself
	// generatorWaits: since there were none, the generator itself waited for a reply, too,
	// beside all others.
	generatorWaits atomic.Bool
}

// addGoroutine counts a goroutine that is started. Callers hold mu.
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

// removeGoroutine counts one that has ended.
func (c *waiterCount) removeGoroutine() {
	if c != nil {
		c.goroutines.Add(-1)
	}
}

// beginWait counts one that waits for the call's reply, until it is told with rise.
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

// Working tells whether some of the run's goroutines don't wait for replies. Of
// the generator itself it is known only if it did so since the first of them was
// started: else it counts as waiting for its goroutines. It may be called from anywhere.
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
