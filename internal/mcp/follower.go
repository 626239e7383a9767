package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/steps"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// A follower follows a run for one stream of a call: it sends the client the entries of
// the run's log, asks it the run's questions, and ends with the call's reply.
//
// It has no goroutine, so that thousands of calls may wait on one connection. Instead
// it works in steps, which wait for nothing but the client to read: one when the log
// has more entries, one when a timer is due. Steps run one after the other; a
// cancellation may run beside them.
type follower struct {
	*call
	handler  callHandler
	sender   messageSender
	inFlight *requests.InFlight // the request that the stream belongs to
	lastSent uint64             // ordinal of the last entry that was handled
	state    msg.State

	queue      *steps.Queue
	stepMu     sync.Mutex // held during a step
	answer     func(reply)
	hasReplied atomic.Bool // no further step runs

	timer         *time.Timer // fires when something other than an entry is due; guarded by the call's mu
	nextKeepAlive time.Time   // zero while the call does not wait for an answer
}

var _ engine.Waiter = (*follower)(nil)

// A callHandler decides what the entries of a run mean for a call. A follower calls
// it only in its steps, except for handleRequestEnd.
type callHandler interface {
	// handleEntry handles an entry other than the last one of an ended run.
	handleEntry(ctx context.Context, e runlog.Entry) error
	// replyAfterBatch returns the call's reply if the call ends after the entries that
	// were handled.
	replyAfterBatch() (r reply, done bool)
	// waitDeadline returns when handleExpiredWait is due, or zero if it is not.
	waitDeadline() time.Time
	// handleExpiredWait returns the call's reply if the call ends at its waitDeadline.
	handleExpiredWait() (r reply, done bool)
	// hasQuestions reports whether the handler holds questions for its client that are
	// not sent as requests.
	hasQuestions() bool
	// handleRequestEnd ends a call whose request ended before its run, with that cause.
	// It may be called more than once, and concurrently with a step.
	handleRequestEnd(cause error) reply
}

// newFollower returns a follower of a call that sends its questions to the client as
// requests.
func (c *call) newFollower(out messageSender, inFlight *requests.InFlight) *follower {
	f := &follower{call: c, sender: c.recorded(out), inFlight: inFlight, lastSent: c.followAfter}
	f.handler = directCall{f}
	return f
}

// A step is a part of a follower's work. It must not wait. It returns the call's reply
// if that ends the call.
type step func(context.Context) (r reply, done bool)

// follow follows the run until the run or the request ends, and passes the call's reply
// to answer. If first isn't nil, it is the first step. Over stdio, follow leaves the other
// steps to the session's queue; over HTTP, it returns after the reply.
func (f *follower) follow(first step, answer func(reply)) {
	if f.session.steps != nil {
		f.start(f.session.steps, first, answer)
		return
	}
	answer(f.followAndWait(first))
}

// followAndWait runs the follower's steps on the calling goroutine until the call is
// over, and returns its reply.
func (f *follower) followAndWait(first step) (r reply) {
	request := f.inFlight.Parent()
	defer context.AfterFunc(request, func() { f.inFlight.Cancel(context.Cause(request)) })()
	queue := steps.NewQueue()
	f.start(queue, first, func(got reply) {
		r = got
		queue.End()
	})
	queue.Run()
	return r
}

// start runs the first step, if there is one. Later ones run on queue.
func (f *follower) start(queue *steps.Queue, first step, answer func(reply)) {
	f.queue, f.answer = queue, answer
	f.presence.Enter()
	f.inFlight.Observe(func(raw []byte) { f.record(recording.In, raw) })
	f.inFlight.OnCancel(f.endOnCancel)
	if first != nil && f.runStep(first) {
		return
	}
	if f.awaitMore() {
		queue.Add(f.handleAvailable) // to send them may wait until the client reads
	}
}

// endOnCancel ends the call when its request is cancelled.
func (f *follower) endOnCancel(cause error) {
	if cause != requests.ErrServed && !f.hasReplied.Load() {
		f.finishCall(f.handler.handleRequestEnd(cause))
	}
}

// Wake implements [engine.Waiter].
func (f *follower) Wake() { f.queue.Add(f.handleAvailable) }

// handleAvailable handles the entries that are there, and then registers for more. The
// engine calls Wake only after that.
func (f *follower) handleAvailable() {
	for !f.runStep(f.handleRecorded) && f.awaitMore() {
	}
}

// awaitMore reports whether there are more entries already. If not, the engine wakes
// the follower when there are.
func (f *follower) awaitMore() bool {
	available, err := f.server.engine.AddWaiter(f.client.caller, f.runID, f.lastSent, f)
	switch {
	case err != nil:
		f.finishCall(f.internalErrorReply(err))
	case !available && f.hasReplied.Load(): // the call ended before AddWaiter
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	return available
}

// runStep runs a step, unless the call is over, and reports whether it is over then. It
// turns a panic into the call's reply.
func (f *follower) runStep(work step) (done bool) {
	f.stepMu.Lock()
	defer f.stepMu.Unlock()
	if f.hasReplied.Load() {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			f.finishCall(f.panicReply(v))
			done = true
		}
	}()
	r, done := work(context.Background())
	if done {
		f.finishCall(r)
	} else {
		f.scheduleTimer()
	}
	return done
}

// handleRecorded is the step that handles the entries in the log.
func (f *follower) handleRecorded(ctx context.Context) (r reply, done bool) {
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID, f.lastSent)
	if err != nil {
		return f.internalErrorReply(err), true
	}
	for batch, err := range batches {
		if err != nil {
			return f.failureReply(err), true
		}
		if r, done := f.handleBatch(ctx, batch); done {
			return r, true
		}
	}
	return reply{}, false
}

// handleBatch handles a batch of entries.
func (f *follower) handleBatch(ctx context.Context, batch []runlog.Entry) (r reply, done bool) {
	for _, e := range batch {
		if cause := f.inFlight.Cause(); cause != nil {
			return f.handler.handleRequestEnd(cause), true
		}
		if e.Kind == runlog.KindAsked {
			f.asked.Store(true)
		}
		if e.Kind == runlog.KindFinished {
			return f.buildFinalReply(ctx, e), true
		}
		if err := f.handler.handleEntry(ctx, e); err != nil {
			return f.failureReply(err), true
		}
		f.lastSent = e.Seq
	}
	return f.handler.replyAfterBatch()
}

// failureReply returns the reply of a call that can't go on. It is empty if the client
// is gone, since the client may resume the call.
func (f *follower) failureReply(err error) reply {
	if errors.Is(err, msg.ErrClientGone) {
		return f.handler.handleRequestEnd(msg.ErrClientGone)
	}
	return f.internalErrorReply(err)
}

// finishCall passes the reply to answer, once, even if the call ends and is cancelled
// at the same time.
func (f *follower) finishCall(r reply) {
	if !f.hasReplied.CompareAndSwap(false, true) {
		return
	}
	f.presence.Leave()
	f.stopWaiting()
	if !f.hasEnded() || f.wasHandedOff() { // the run goes on and must not keep the waiter
		f.server.engine.RemoveWaiter(f.runID, f)
	}
	f.answer(r)
}
