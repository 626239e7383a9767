package mcp

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/run"
)

// A parked call is followed without a goroutine that waits: thousands may wait
// for an answer on one connection, and each costs what it has to remember. Its
// turns come one after the other; a cancel may come beside them.
type parked struct {
	follower
	replied atomic.Bool
	over    bool // it has told all that it has to tell
	answer  func(reply)
	turns   sync.Mutex
}

var _ run.Waiter = (*parked)(nil)

// park starts the run, or takes it up, and follows it until it ends or its
// request does, and hands the reply to answer. It returns at once, but for a run
// that is taken up, whose log it reads first.
func (c *call) park(p *params, flight *flight, answer func(reply)) {
	if !c.resumed {
		if refused := c.start(flight.parent, p); refused != nil {
			answer(*refused)
			return
		}
	}
	x := c.follower(c.out, flight).parked(answer)
	x.heed()
	if c.resumed && x.turn(x.rejoin) {
		return
	}
	if x.more() {
		x.step()
	}
}

// parked is the follower of a call that hands its reply to answer.
func (f *follower) parked(answer func(reply)) *parked {
	p := &parked{follower: *f, answer: answer}
	p.wake = func() { p.session.steps.add(p.attend) }
	return p
}

// heed has the call end when its request is cancelled.
func (p *parked) heed() {
	p.flight.whenCancelled(func(cause error) {
		if cause != errLanded {
			p.done(p.leave(cause))
		}
	})
}

// Wake implements [run.Waiter].
func (p *parked) Wake() { p.session.steps.add(p.step) }

// step tells what there is to tell, and waits for more. What calls it again is
// set only at its end.
func (p *parked) step() {
	for !p.turn(p.read) && p.more() {
	}
}

// more tells whether there is more to tell already. Else a step will be made
// when there is.
func (p *parked) more() bool {
	there, err := p.server.engine.When(p.client.who, p.run, p.after, p)
	switch {
	case err != nil:
		p.done(p.broken(err))
	case !there && p.flight.cancelled() != nil: // before it waited
		p.server.engine.Unwait(p.run, p)
	}
	return there
}

// attend does what is due while it waits.
func (p *parked) attend() { p.turn(p.follower.attend) }

// turn does one piece of work, which waits for nothing, and tells whether the
// call is over.
func (p *parked) turn(work func(context.Context) (reply, bool)) (over bool) {
	p.turns.Lock()
	defer p.turns.Unlock()
	if p.over {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			p.over, over = true, true
			p.done(p.panicked(v))
		}
	}()
	r, over := work(context.Background())
	if p.over = over; over {
		p.done(r)
	} else {
		p.arrange()
	}
	return over
}

// read tells what there is to tell.
func (p *parked) read(ctx context.Context) (r reply, over bool) {
	batches, err := p.server.engine.ReadAfter(ctx, p.client.who, p.run, p.after)
	if err != nil {
		return p.broken(err), true
	}
	for batch, err := range batches {
		if r, over := p.advance(ctx, batch, err); over {
			return r, true
		}
	}
	return reply{}, false
}

// done answers the call. It may be over and cancelled at the same time.
func (p *parked) done(r reply) {
	if !p.replied.CompareAndSwap(false, true) {
		return
	}
	p.rest()
	if !p.isOver() || p.wasHanded() { // its run goes on, and must not remember it
		p.server.engine.Unwait(p.run, p)
	}
	p.answer(r)
}
