package mcp

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/engine"
)

// An asyncFollower call is followed without a goroutine that waits: thousands may wait
// for an answer on one connection, and each costs what it has to remember. Its
// turns come one after the other; a cancel may come beside them.
type asyncFollower struct {
	follower
	hasReplied atomic.Bool
	isFinished bool // it has told all that it has to tell
	deliver    func(reply)
	turnMu     sync.Mutex
}

var _ engine.Waiter = (*asyncFollower)(nil)

// serveAsync starts the run, or takes it up, and follows it until it ends or its
// request does, and hands the reply to answer. It returns at once, but for a run
// that is taken up, whose log it reads first.
func (c *call) serveAsync(p *requestParams, inFlight *inFlightRequest, answer func(reply)) {
	if !c.isResume {
		if refused := c.startRun(inFlight.parentContext, p); refused != nil {
			answer(*refused)
			return
		}
	}
	waiter := c.newFollower(c.sender, inFlight).async(answer)
	waiter.endOnCancel()
	if c.isResume && waiter.runTurn(waiter.rejoinRun) {
		return
	}
	if waiter.awaitMore() {
		waiter.sendAvailable()
	}
}

// async is the follower of a call that hands its reply to answer.
func (f *follower) async(answer func(reply)) *asyncFollower {
	p := &asyncFollower{follower: *f, deliver: answer}
	p.wake = func() { p.session.steps.add(p.handleTimer) }
	return p
}

// endOnCancel has the call end when its request is cancelled.
func (f *asyncFollower) endOnCancel() {
	f.inFlight.setOnCancel(func(cause error) {
		if cause != errRequestServed {
			f.finishCall(f.handleRequestEnd(cause))
		}
	})
}

// Wake implements [run.Waiter].
func (f *asyncFollower) Wake() { f.session.steps.add(f.sendAvailable) }

// sendAvailable tells what there is to tell, and waits for more. What calls it again is
// set only at its end.
func (f *asyncFollower) sendAvailable() {
	for !f.runTurn(f.sendRecorded) && f.awaitMore() {
	}
}

// awaitMore tells whether there is more to tell already. Else a step will be made
// when there is.
func (f *asyncFollower) awaitMore() bool {
	there, err := f.server.engine.AddWaiter(f.client.caller, f.runID, f.lastSent, f)
	switch {
	case err != nil:
		f.finishCall(f.internalErrorReply(err))
	case !there && f.inFlight.cancelCause() != nil: // before it waited
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	return there
}

// handleTimer does what is due while it waits.
func (f *asyncFollower) handleTimer() { f.runTurn(f.follower.runDueActions) }

// runTurn does one piece of work, which waits for nothing, and tells whether the
// call is over.
func (f *asyncFollower) runTurn(work func(context.Context) (reply, bool)) (over bool) {
	f.turnMu.Lock()
	defer f.turnMu.Unlock()
	if f.isFinished {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			f.isFinished, over = true, true
			f.finishCall(f.panicReply(v))
		}
	}()
	r, over := work(context.Background())
	if f.isFinished = over; over {
		f.finishCall(r)
	} else {
		f.scheduleTimer()
	}
	return over
}

// sendRecorded tells what there is to tell.
func (f *asyncFollower) sendRecorded(ctx context.Context) (r reply, over bool) {
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID, f.lastSent)
	if err != nil {
		return f.internalErrorReply(err), true
	}
	for batch, err := range batches {
		if r, over := f.handleBatch(ctx, batch, err); over {
			return r, true
		}
	}
	return reply{}, false
}

// finishCall answers the call. It may be over and cancelled at the same time.
func (f *asyncFollower) finishCall(r reply) {
	if !f.hasReplied.CompareAndSwap(false, true) {
		return
	}
	f.stopWaiting()
	if !f.hasEnded() || f.wasHandedOff() { // its run goes on, and must not remember it
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	f.deliver(r)
}
