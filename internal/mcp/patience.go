package mcp

import "time"

// A patience counts how long a call has waited for people.
type patience struct {
	since time.Time     // when it began to wait; zero while it does not
	spent time.Duration // before that
}

func (p *patience) waits() bool { return !p.since.IsZero() }

func (p *patience) waited(now time.Time) time.Duration {
	if !p.waits() {
		return p.spent
	}
	return p.spent + now.Sub(p.since)
}

// set notes whether it waits now.
func (p *patience) set(waits bool, now time.Time) {
	switch {
	case waits && !p.waits():
		p.since = now
	case !waits && p.waits():
		p.spent, p.since = p.waited(now), time.Time{}
	}
}

// renew begins anew: the client has answered, so it is not silent.
func (p *patience) renew(now time.Time) {
	p.spent = 0
	if p.waits() {
		p.since = now
	}
}
