package mcp

import "time"

// A waitClock counts how long a call has waited for people.
type waitClock struct {
	waitingSince time.Time     // when it began to wait; zero while it does not
	waitedBefore time.Duration // before that
}

func (c *waitClock) waits() bool { return !c.waitingSince.IsZero() }

func (c *waitClock) elapsed(now time.Time) time.Duration {
	if !c.waits() {
		return c.waitedBefore
	}
	return c.waitedBefore + now.Sub(c.waitingSince)
}

// setWaiting notes whether it waits now.
func (c *waitClock) setWaiting(waits bool, now time.Time) {
	switch {
	case waits && !c.waits():
		c.waitingSince = now
	case !waits && c.waits():
		c.waitedBefore, c.waitingSince = c.elapsed(now), time.Time{}
	}
}

// restart begins anew: the client has answered, so it is not silent.
func (c *waitClock) restart(now time.Time) {
	c.waitedBefore = 0
	if c.waits() {
		c.waitingSince = now
	}
}
