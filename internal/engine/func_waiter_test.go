package engine_test

// funcWaiter is called for the next entry.
type funcWaiter func()

func (w funcWaiter) Wake() { w() }
