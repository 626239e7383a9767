package mcp

import (
	"context"
	"sync"
)

// A parked call is followed without a goroutine that waits: thousands may wait
// for an answer on one connection, and each costs what it has to remember. Its
// turns come one after the other; a cancel may come beside them.
type parked struct {
	*follower
	once   sync.Once
	over   bool // it has told all that it has to tell
	answer func(reply)
	next   func() // has the crew make another step
	turns  sync.Mutex
}

// park follows the run until it ends or its request does, and hands the reply
// to answer. It returns at once.
func (f *follower) park(answer func(reply)) {
	p := &parked{follower: f, answer: answer}
	p.next = func() { p.session.crew.do(p.step) }
	p.vigil.wake = func() { p.session.crew.do(p.attend) }
	f.flight.whenCancelled(func(cause error) {
		if cause != errLanded {
			p.done(p.leave(cause))
		}
	})
	if f.resumed > 0 {
		f.session.crew.do(p.begin)
		return
	}
	p.wait()
}

// wait has the crew make a step when there is something to tell.
func (p *parked) wait() {
	if err := p.server.engine.When(p.client.who, p.run, p.after, p.next); err != nil {
		p.done(p.broken(err))
	}
}

// step tells what there is to tell, and waits for more. What calls it again is
// set only at its end.
func (p *parked) step() {
	if !p.turn(p.read) {
		p.wait()
	}
}

// begin takes up a run that was begun by another call.
func (p *parked) begin() {
	if !p.turn(p.rejoin) {
		p.wait()
	}
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
	p.once.Do(func() {
		p.server.agenda.strike(&p.vigil)
		p.answer(r)
	})
}
