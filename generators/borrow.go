package generators

// A Borrower makes use of a generator's goroutines while they wait for replies.
// Its methods may be called from several goroutines.
type Borrower interface {
	// Borrow is called by a goroutine that is about to wait for c, and may work
	// on it until c is settled. It may return earlier.
	Borrow(c *Call)
	// Settled tells that a call has its reply, whether or not Borrow was called
	// for it: also a step, a question that was refused, and what the end of the
	// run settles. It must return soon.
	Settled(c *Call)
}

// Lend has the run's goroutines used while they wait. Call it before
// [Run.All].
func (r *Run) Lend(b Borrower) { r.borrower = b }

// lend lends the goroutine to whom it may be of use until the call is settled.
//
//go:noinline
func (c *Call) lend() {
	if c.run == nil || c.run.borrower == nil {
		return
	}
	if _, settled := c.Settled(); !settled {
		c.run.borrower.Borrow(c)
	}
}
