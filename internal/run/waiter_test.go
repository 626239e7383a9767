package run_test

import "github.com/photon-beam/beam/internal/log"

// waiter is called for the next entry, whatever it is.
type waiter func()

func (waiter) Skips(log.Entry) bool { return false }
func (w waiter) Wake()              { w() }
func (w waiter) Tell([]log.Entry)   { w() }
