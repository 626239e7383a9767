package policy

import (
	"fmt"
	"sync"
	"time"
)

// A LimitError says that an upstream's limit refuses a call.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// BeginCall begins a call of a tool. The caller calls end when it has ended. The
// error is a [*LimitError], or says that the tool is not offered.
func (p *Policy) BeginCall(tool string) (end func(CallOutcome), err error) {
	if err := p.admitCall(tool); err != nil {
		p.options.Meter.UpstreamCall(p.server.Name, CallRefused, 0)
		return nil, err
	}
	began := time.Now()
	var once sync.Once
	return func(outcome CallOutcome) {
		once.Do(func() {
			p.mu.Lock()
			p.calls--
			p.mu.Unlock()
			p.options.Meter.UpstreamCall(p.server.Name, outcome, time.Since(began))
		})
	}, nil
}

// admitCall counts a call, if no limit refuses it.
func (p *Policy) admitCall(tool string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tools[tool]; t == nil || t.Decision != Offered {
		return fmt.Errorf("the upstream %s doesn't offer the tool %s any more", p.server.Name, CleanLine(tool, maxToolName))
	}
	if most := p.server.Limits.Calls; most > 0 && p.calls >= most {
		return &LimitError{fmt.Sprintf("the upstream %s has %d calls in progress, the most that its limits allow: try again later", p.server.Name, p.calls)}
	}
	if p.rate != nil && !p.rate.Allow() {
		return &LimitError{fmt.Sprintf("the upstream %s may be called %d times a minute: try again later", p.server.Name, p.server.Limits.CallsPerMinute)}
	}
	p.calls++
	return nil
}

// Calls returns how many calls are in progress.
func (p *Policy) Calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}
