package mcp

import (
	"context"
	"iter"
	"sync"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// A parked call is followed without a goroutine that waits: thousands may wait
// for an answer on one connection, and each costs what it has to remember. Its
// steps come one after the other; a cancel may come beside them.
type parked struct {
	*follower
	once   sync.Once
	answer func(reply)
}

var _ run.Waiter = (*parked)(nil)

// park starts the run and follows it until it ends or its request does, and
// hands the reply to answer. It returns at once.
func (c *call) park(p *params, flight *flight, answer func(reply)) {
	x := &parked{answer: answer}
	refused := c.start(flight.parent, p, func() run.Waiter {
		x.follower = c.follower(c.out, flight)
		return x
	})
	if refused != nil {
		answer(*refused)
		return
	}
	flight.whenCancelled(func(cause error) {
		if cause != errLanded {
			x.done(x.leave(cause))
		}
	})
}

// Skips implements [run.Waiter]: the client need not be told its own answer.
func (p *parked) Skips(e log.Entry) bool {
	if e.Seq != p.after+1 || !p.answeredHere(e) {
		return false
	}
	p.after = e.Seq
	return true
}

// Wake implements [run.Waiter]: the crew makes the next step.
func (p *parked) Wake() { p.session.crew.do(p.step) }

// Tell implements [run.Waiter]. To pass a step to the crew takes longer than
// to make it. A tool has time for that at its end, and before it waits, if
// nobody else keeps it from writing. But a step makes the stack of a generator
// several times as large, so it is made there only by few of those that wait.
func (p *parked) Tell(wrote []log.Entry) {
	switch last := wrote[len(wrote)-1].Kind; {
	case last == log.KindFinished:
	case last == log.KindAsked && p.session.asking() < fewCalls && p.session.crew.pipe.idle():
	default:
		p.Wake()
		return
	}
	if wrote[0].Seq == p.after+1 && p.tell(func(yield func([]log.Entry, error) bool) { yield(wrote, nil) }) {
		return
	}
	p.step()
}

// fewCalls is how many questions may be before a client until memory counts
// for more than time.
const fewCalls = 64

// step tells what there is to tell, and waits for more. It runs once at a time:
// what calls it again is set only at its end.
func (p *parked) step() {
	for {
		batches, err := p.server.engine.ReadAfter(context.Background(), p.client.who, p.run, p.after)
		if err != nil {
			p.done(p.broken(err))
			return
		}
		if p.tell(batches) {
			return
		}
	}
}

// tell tells the batches. It returns false if there is more to tell already.
func (p *parked) tell(batches iter.Seq2[[]log.Entry, error]) (told bool) {
	defer func() {
		if v := recover(); v != nil {
			p.done(p.panicked(v))
			told = true
		}
	}()
	for batch, err := range batches {
		if r, over := p.advance(context.Background(), batch, err); over { // nothing here waits
			p.done(r)
			return true
		}
	}
	there, err := p.server.engine.When(p.client.who, p.run, p.after, p)
	if err != nil {
		p.done(p.broken(err))
	}
	return !there
}

// done answers the call. It may be over and cancelled at the same time.
func (p *parked) done(r reply) { p.once.Do(func() { p.answer(r) }) }
