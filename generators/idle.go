package generators

// An Idler makes use of a generator's goroutines while they wait for replies.
// Its methods may be called from several goroutines.
type Idler interface {
	// Idle is called by a goroutine that is about to wait for c, and may work
	// on it until c is settled. It may return earlier.
	Idle(c *Call)
	// Settled tells that a call has its reply, whether or not Idle was called
	// for it. It must return soon.
	Settled(c *Call)
}

// Lend has the run's goroutines used while they wait. Call it before
// [Run.All].
func (r *Run) Lend(i Idler) { r.idler = i }

// idle lends the goroutine to whom it may be of use until the call is settled.
//
//go:noinline
func (c *Call) idle() {
	if c.run == nil || c.run.idler == nil {
		return
	}
	if _, settled := c.Settled(); !settled {
		c.run.idler.Idle(c)
	}
}
