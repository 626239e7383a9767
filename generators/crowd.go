package generators

import "sync/atomic"

// A crowd counts the goroutines of a run that started some with [Go]. Its
// methods may be called on nil.
type crowd struct {
	started atomic.Int32 // by Go, and not ended
	waiting atomic.Int32 // for replies, of those and the generator itself
	// joined: since there were none, the generator itself waited for a reply, too,
	// beside all others.
	joined atomic.Bool
}

// join counts a goroutine that is started. Callers hold mu.
func (r *Run) join() *crowd {
	c := r.crowd.Load()
	if c == nil {
		c = new(crowd)
		r.crowd.Store(c)
	}
	if c.started.Add(1) == 1 {
		c.joined.Store(false)
	}
	return c
}

// leave counts one that has ended.
func (c *crowd) leave() {
	if c != nil {
		c.started.Add(-1)
	}
}

// sit counts one that waits for the call's reply, until it is told with rise.
func (c *Call) sit() *crowd {
	if c.run == nil {
		return nil
	}
	all := c.run.crowd.Load()
	if all != nil && all.waiting.Add(1) > all.started.Load() {
		all.joined.Store(true)
	}
	return all
}

func (c *crowd) rise() {
	if c != nil {
		c.waiting.Add(-1)
	}
}

// Working tells whether some of the run's goroutines don't wait for replies. Of
// the generator itself it is known only if it did so since the first of them was
// started: else it counts as waiting for its goroutines. It may be called from anywhere.
func (r *Run) Working() bool {
	c := r.crowd.Load()
	if c == nil {
		return false
	}
	all := c.started.Load()
	if c.joined.Load() {
		all++
	}
	return c.waiting.Load() < all
}
