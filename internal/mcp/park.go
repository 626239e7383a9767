package mcp

import (
	"context"
	"sync"
)

// A parked call is followed without a goroutine that waits: thousands may wait
// for an answer on one connection, and each costs what it has to remember. Its
// steps come one after the other; a cancel may come beside them.
type parked struct {
	*follower
	once   sync.Once
	answer func(reply)
	next   func() // has the crew make another step
}

// park follows the run until it ends or its request does, and hands the reply
// to answer. It returns at once.
func (f *follower) park(answer func(reply)) {
	p := &parked{follower: f, answer: answer}
	p.next = func() { f.session.crew.do(p.step) }
	f.flight.whenCancelled(func(cause error) {
		if cause != errLanded {
			p.done(p.leave(cause))
		}
	})
	p.wait()
}

// wait has the crew make a step when there is something to tell.
func (p *parked) wait() {
	if err := p.server.engine.When(p.client.who, p.run, p.after, p.next); err != nil {
		p.done(p.broken(err))
	}
}

// step tells what there is to tell, and waits for more. It runs once at a time:
// what calls it again is set only at its end.
func (p *parked) step() {
	defer func() {
		if v := recover(); v != nil {
			p.done(p.panicked(v))
		}
	}()
	ctx := context.Background() // reading waits for nothing
	batches, err := p.server.engine.ReadAfter(ctx, p.client.who, p.run, p.after)
	if err != nil {
		p.done(p.broken(err))
		return
	}
	for batch, err := range batches {
		if r, over := p.advance(ctx, batch, err); over {
			p.done(r)
			return
		}
	}
	p.wait()
}

// done answers the call. It may be over and cancelled at the same time.
func (p *parked) done(r reply) { p.once.Do(func() { p.answer(r) }) }
