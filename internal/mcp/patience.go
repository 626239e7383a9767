package mcp

import "time"

// A patience counts how long a call has waited for people, by the agenda's
// clock.
type patience struct {
	since time.Duration // when it began to wait; 0 while it does not
	spent time.Duration // before that
}

func (p *patience) waited(now time.Duration) time.Duration {
	if p.since == 0 {
		return p.spent
	}
	return p.spent + now - p.since
}

// set notes whether it waits now.
func (p *patience) set(waits bool, now time.Duration) {
	switch {
	case waits && p.since == 0:
		p.since = now
	case !waits && p.since != 0:
		p.spent, p.since = p.waited(now), 0
	}
}

// renew begins anew: the client has answered, so it is not silent.
func (p *patience) renew(now time.Duration) {
	p.spent = 0
	if p.since != 0 {
		p.since = now
	}
}
