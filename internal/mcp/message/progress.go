package message

import "math"

// A Progress makes the progress of a run rise, as MCP requires of every progress
// token (MCP, Progress). It depends on the run's events alone, so a client that
// resumes in the middle gets the same numbers.
type Progress struct {
	sent   bool
	last   float64
	offset float64 // added to what the photon reports
}

// Advance returns what to send for progress that a photon reports. If that does
// not exceed the last value, it is shifted, together with all that follows and
// its total, so that it is one more. A total of 0 is unknown. Advance returns
// false if the value is beyond what can be sent.
func (p *Progress) Advance(done, total float64) (value, shiftedTotal float64, ok bool) {
	value = done + p.offset
	if p.sent && value <= p.last {
		value = p.next()
	}
	if isInfinite(value) || isInfinite(value-done) {
		return 0, 0, false
	}
	p.sent, p.last, p.offset = true, value, value-done
	if total > 0 {
		total += p.offset
	}
	if total < value || isInfinite(total) { // a run that did more than it expected
		total = 0
	}
	return value, total, true
}

// Step returns what to send for a mere status: one more than the last value. It
// returns false if nothing more can be sent.
func (p *Progress) Step() (value float64, ok bool) {
	if p.sent {
		value = p.next()
	}
	if isInfinite(value) {
		return 0, false
	}
	p.sent, p.last = true, value
	return value, true
}

// RaiseTo makes what follows exceed a value that a client has received.
func (p *Progress) RaiseTo(value float64) {
	if !p.sent || value > p.last {
		p.sent, p.last = true, value
	}
}

// Last returns the last value, and whether there is one.
func (p *Progress) Last() (value float64, sent bool) { return p.last, p.sent }

// next returns one more than the last value, or the next larger number where one
// is too little to make a difference.
func (p *Progress) next() float64 {
	return max(p.last+1, math.Nextafter(p.last, math.Inf(1)))
}

func isInfinite(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }
