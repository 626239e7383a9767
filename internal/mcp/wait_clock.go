package mcp

import "time"

// restartWaitClock restarts the wait: a client that sends any response is not silent.
func (c *call) restartWaitClock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitClock.restart(time.Now())
	c.linksSent = false
}

// A waitClock measures how long a call has waited for answers.
type waitClock struct {
	waitingSince time.Time     // zero while the call does not wait
	waitedBefore time.Duration // total before waitingSince
}

func (c *waitClock) isWaiting() bool { return !c.waitingSince.IsZero() }

func (c *waitClock) elapsed(now time.Time) time.Duration {
	if !c.isWaiting() {
		return c.waitedBefore
	}
	return c.waitedBefore + now.Sub(c.waitingSince)
}

// setWaiting starts or stops the clock.
func (c *waitClock) setWaiting(waiting bool, now time.Time) {
	switch {
	case waiting && !c.isWaiting():
		c.waitingSince = now
	case !waiting && c.isWaiting():
		c.waitedBefore, c.waitingSince = c.elapsed(now), time.Time{}
	}
}

// restart resets the clock to zero.
func (c *waitClock) restart(now time.Time) {
	c.waitedBefore = 0
	if c.isWaiting() {
		c.waitingSince = now
	}
}
