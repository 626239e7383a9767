package run_test

// waiter is called for the next entry.
type waiter func()

func (w waiter) Wake() { w() }
