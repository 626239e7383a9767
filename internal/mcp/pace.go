package mcp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A pace tells whether a tool has been quick lately: whether it took little time
// from its start, or from an answer, until it asked or ended. It may be used
// from several goroutines.
type pace struct {
	score atomic.Int32
	asks  atomic.Bool // the tool asked when it was called last
}

const (
	// quick is how long a stretch takes at most that is.
	quick = 2 * time.Millisecond
	// A quick stretch scores 1, up to most; a slow one takes much of that away,
	// since it keeps others waiting, but not all: the machine may have been busy.
	mostScore = 8
	slowScore = 4
)

// took notes how long a stretch was.
func (p *pace) took(d time.Duration) {
	score := p.score.Load() // of two that note at once, one may be lost
	if d > quick {
		p.score.Store(max(score-slowScore, 0))
	} else if score < mostScore {
		p.score.Store(score + 1)
	}
}

// isQuick tells whether the tool can be expected to be quick.
func (p *pace) isQuick() bool { return p.score.Load() > slowScore }

// paceOf is the pace of a tool, by its name.
func (s *Server) paceOf(tool string) *pace {
	p, known := s.paces.Load(tool)
	if !known {
		p, _ = s.paces.LoadOrStore(tool, new(pace))
	}
	return p.(*pace)
}

var _ generators.Borrower = (*parked)(nil)

// launch sets the tool going: a quick one on the goroutine that read its call.
// Where many questions wait, that is for tools that don't ask: to wait there takes
// more of a stack.
func (p *parked) launch(tool func()) {
	p.begins()
	here := p.helm != nil && p.helm.mayRun() && p.pace.isQuick()
	if here && (!p.pace.asks.Load() || p.session.asking() < fewCalls) {
		p.helm.tool = tool
		return
	}
	p.helm = nil
	go tool()
}

// Borrow implements [generators.Borrower].
func (p *parked) Borrow(c *generators.Call) {
	p.asked.Store(true)
	p.pace.asks.Store(true)
	p.stops()
	p.waits.Store(c)
	if _, settled := c.Settled(); settled { // just now, perhaps before that was stored
		p.goesOn(c)
	}
	if p.helm != nil {
		p.helm.idle(c)
	}
}

// Settled implements [generators.Borrower].
func (p *parked) Settled(c *generators.Call) {
	p.goesOn(c)
	if p.helm != nil {
		p.helm.settled(c)
	}
}

// begins notes that a stretch of the tool's work begins.
func (p *parked) begins() { p.since.Store(int64(p.server.agenda.now())) }

// ends notes that the tool has ended.
func (p *parked) ends() {
	if !p.asked.Load() {
		p.pace.asks.Store(false)
	}
	p.stops()
}

// goesOn notes that the tool is at work again, if it waited for that call. Others
// are settled while it works, or waits on: a step's, one that is refused, and
// what is open at the end.
func (p *parked) goesOn(c *generators.Call) {
	if r, _ := c.Settled(); errors.Is(r.Err, generators.ErrSuspended) {
		p.waits.CompareAndSwap(c, coldCall)
	} else if p.waits.CompareAndSwap(c, nil) {
		p.begins()
	}
}

// coldCall is what a tool waits for whose run was let go: nothing that would have
// to be remembered here.
var coldCall = new(generators.Call)

// stops notes that the tool asks, or has ended, if it was at work.
func (p *parked) stops() {
	if p.waits.Load() == nil {
		p.pace.took(p.server.agenda.now() - time.Duration(p.since.Load()))
	}
}
