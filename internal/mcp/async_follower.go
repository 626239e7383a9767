package mcp

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/engine"
)

// An asyncFollower follows a run without a waiting goroutine, so that thousands of
// calls may wait on one connection. Its turns run one after the other; a cancellation
// may run beside them.
type asyncFollower struct {
	follower
	hasReplied atomic.Bool
	isFinished bool // no turn runs any more; guarded by turnMu
	deliver    func(reply)
	turnMu     sync.Mutex
}

var _ engine.Waiter = (*asyncFollower)(nil)

// serveAsync starts or rejoins the run and follows it until the run or its request
// ends. It then passes the reply to answer. It returns at once, except that it first
// reads the log of a run that it rejoins.
func (c *call) serveAsync(p *requestParams, inFlight *inFlightRequest, answer func(reply)) {
	if !c.isResume {
		if refused := c.startRun(inFlight.parentContext, p); refused != nil {
			answer(*refused)
			return
		}
	}
	waiter := c.newFollower(c.sender, inFlight).newAsyncFollower(answer)
	waiter.endOnCancel()
	if c.isResume && waiter.runTurn(waiter.rejoinRun) {
		return
	}
	if waiter.awaitMore() {
		waiter.sendAvailable()
	}
}

// newAsyncFollower returns a follower that passes the call's reply to answer.
func (f *follower) newAsyncFollower(answer func(reply)) *asyncFollower {
	p := &asyncFollower{follower: *f, deliver: answer}
	p.wake = func() { p.session.steps.add(p.handleTimer) }
	return p
}

// endOnCancel ends the call when its request is cancelled.
func (f *asyncFollower) endOnCancel() {
	f.inFlight.setOnCancel(func(cause error) {
		if cause != errRequestServed {
			f.finishCall(f.handleRequestEnd(cause))
		}
	})
}

// Wake implements [engine.Waiter].
func (f *asyncFollower) Wake() { f.session.steps.add(f.sendAvailable) }

// sendAvailable sends the entries that are there, and then registers for more. The
// engine calls Wake only after that.
func (f *asyncFollower) sendAvailable() {
	for !f.runTurn(f.sendRecorded) && f.awaitMore() {
	}
}

// awaitMore reports whether there are more entries already. If not, the engine wakes
// the follower when there are.
func (f *asyncFollower) awaitMore() bool {
	available, err := f.server.engine.AddWaiter(f.client.caller, f.runID, f.lastSent, f)
	switch {
	case err != nil:
		f.finishCall(f.internalErrorReply(err))
	case !available && f.inFlight.cancelCause() != nil: // cancelled before AddWaiter
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	return available
}

// handleTimer does what is due while the call waits.
func (f *asyncFollower) handleTimer() { f.runTurn(f.follower.runDueActions) }

// runTurn runs work, which must not wait, and reports whether the call is over. It
// turns a panic into the call's reply.
func (f *asyncFollower) runTurn(work func(context.Context) (reply, bool)) (done bool) {
	f.turnMu.Lock()
	defer f.turnMu.Unlock()
	if f.isFinished {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			f.isFinished, done = true, true
			f.finishCall(f.panicReply(v))
		}
	}()
	r, done := work(context.Background())
	if f.isFinished = done; done {
		f.finishCall(r)
	} else {
		f.scheduleTimer()
	}
	return done
}

// sendRecorded sends the entries that are in the log.
func (f *asyncFollower) sendRecorded(ctx context.Context) (r reply, done bool) {
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID, f.lastSent)
	if err != nil {
		return f.internalErrorReply(err), true
	}
	for batch, err := range batches {
		if r, done := f.handleBatch(ctx, batch, err); done {
			return r, true
		}
	}
	return reply{}, false
}

// finishCall delivers the reply once, even if the call ends and is cancelled at the
// same time.
func (f *asyncFollower) finishCall(r reply) {
	if !f.hasReplied.CompareAndSwap(false, true) {
		return
	}
	f.stopWaiting()
	if !f.hasEnded() || f.wasHandedOff() { // the run goes on and must not keep the waiter
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	f.deliver(r)
}
