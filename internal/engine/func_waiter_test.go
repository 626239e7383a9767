package engine_test

// funcWaiter is an engine.Waiter that calls the function.
type funcWaiter func()

func (w funcWaiter) Wake() { w() }
