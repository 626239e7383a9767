package calls

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/steps"
	"github.com/photon-beam/beam/internal/runlog"
)

// A follower follows a run on a stream, and passes what its log says to a handler, until
// the call is over.
//
// It has no goroutine, so that thousands of calls may wait on one connection. Instead
// it works in steps, which wait for nothing but the client to read: one when the log
// has more entries, one when a timer is due. Steps run one after the other; a
// cancellation may run beside them.
type follower struct {
	call     *call
	stream   *stream
	handler  callHandler
	inFlight *requests.InFlight // the request that the stream belongs to

	queue      *steps.Queue
	answer     func(requests.Reply)
	hasReplied atomic.Bool // no further step runs

	stepMu  sync.Mutex // held during a step
	timerMu sync.Mutex
	timer   *time.Timer // fires when something other than an entry is due; guarded by timerMu
}

var _ engine.Waiter = (*follower)(nil)

// A callHandler decides what the entries of a run mean for a call. A follower calls
// it only in its steps, except for handleRequestEnd.
type callHandler interface {
	// handleQuestion handles the question with an ordinal, which the run has asked.
	handleQuestion(ctx context.Context, seq uint64) error
	// handleApproval handles the approval of a version of a question to a model.
	handleApproval(ctx context.Context, askSeq uint64) error
	// handleSettlement handles the settlement of a question.
	handleSettlement(msg.Settlement) error
	// replyAfterBatch returns the call's reply if the call ends after the entries that
	// were handled.
	replyAfterBatch() (r requests.Reply, done bool)
	// nextDeadline returns when handleDeadline is due, or zero if it is not.
	nextDeadline() time.Time
	// handleDeadline is the step that does what is due.
	handleDeadline(ctx context.Context) (r requests.Reply, done bool, err error)
	// handleRequestEnd ends a call whose request ended before its run, with that cause.
	// It may be called more than once, and concurrently with a step.
	handleRequestEnd(cause error)
}

// A step is a part of a follower's work. It must not wait. It returns the call's reply
// if that ends the call, or why the call can't go on.
type step func(context.Context) (r requests.Reply, done bool, err error)

// follow follows the run until the run or the request ends, and passes the call's reply
// to answer. If first isn't nil, it is the first step. If the session has a queue, follow
// leaves the other steps to it; otherwise it returns after the reply.
func (f *follower) follow(sessionSteps *steps.Queue, first step, answer func(requests.Reply)) {
	if sessionSteps != nil {
		f.start(sessionSteps, first, answer)
		return
	}
	answer(f.followAndWait(first))
}

// followAndWait runs the follower's steps on the calling goroutine until the call is
// over, and returns its reply.
func (f *follower) followAndWait(first step) (r requests.Reply) {
	request := f.inFlight.Parent()
	defer context.AfterFunc(request, func() { f.inFlight.Cancel(context.Cause(request)) })()
	queue := steps.NewQueue()
	f.start(queue, first, func(got requests.Reply) {
		r = got
		queue.End()
	})
	queue.Run()
	return r
}

// start runs the first step, if there is one. Later ones run on queue.
func (f *follower) start(queue *steps.Queue, first step, answer func(requests.Reply)) {
	f.queue, f.answer = queue, answer
	f.call.enter()
	f.inFlight.Observe(func(raw []byte) { f.stream.run.recordReceived(raw) })
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
		f.handler.handleRequestEnd(cause)
		f.finish(requests.Reply{})
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
	r := f.stream.run
	available, err := r.engine.AddWaiter(r.client.Caller, r.id, f.stream.last, f)
	switch {
	case err != nil:
		f.finish(f.fail(err))
	case !available && f.hasReplied.Load(): // the call ended before AddWaiter
		r.engine.RemoveWaiter(r.id, f)
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
			f.finish(f.fail(fmt.Errorf("panic: %v\n%s", v, debug.Stack())))
			done = true
		}
	}()
	r, done, err := work(context.Background())
	switch {
	case err != nil:
		f.finish(f.fail(err))
		return true
	case done:
		f.finish(r)
	default:
		f.scheduleTimer()
	}
	return done
}

// fail returns the reply of a call that can't go on. It is empty if the client is gone,
// since the client may resume the call.
func (f *follower) fail(err error) requests.Reply {
	if errors.Is(err, msg.ErrClientGone) {
		f.handler.handleRequestEnd(err)
		return requests.Reply{}
	}
	return f.call.fail(err)
}

// handleRecorded is the step that handles the entries in the log.
func (f *follower) handleRecorded(ctx context.Context) (r requests.Reply, done bool, err error) {
	run := f.stream.run
	batches, err := run.engine.Read(ctx, run.client.Caller, run.id, f.stream.last)
	if err != nil {
		return r, true, err
	}
	for batch, err := range batches {
		if err != nil {
			return r, true, err
		}
		if r, done, err := f.handleBatch(ctx, batch); done || err != nil {
			return r, done, err
		}
	}
	return r, false, nil
}

// handleBatch handles a batch of entries.
func (f *follower) handleBatch(ctx context.Context, batch []runlog.Entry) (r requests.Reply, done bool, err error) {
	v := followedEntries{f.stream.sendEvent, ctx, f}
	for _, e := range batch {
		if cause := f.inFlight.Cause(); cause != nil {
			f.handler.handleRequestEnd(cause)
			return r, true, nil
		}
		if e.Kind == runlog.KindFinished {
			return f.call.finish(ctx, f.stream, e), true, nil
		}
		if err := e.Visit(v); err != nil {
			return r, true, err
		}
		f.stream.last = e.Seq
	}
	r, done = f.handler.replyAfterBatch()
	return r, done, nil
}

// followedEntries passes the entries of a run, but for its end, to the handler of a call, and
// sends the client the notifications of the rest.
type followedEntries struct {
	runlog.Rest
	ctx context.Context
	*follower
}

func (v followedEntries) Asked(e runlog.Entry, _ runlog.Asked) error {
	v.call.asked.Store(true)
	return v.handler.handleQuestion(v.ctx, e.Seq)
}

func (v followedEntries) Answered(e runlog.Entry, _ runlog.Answered) error { return v.settle(e) }

func (v followedEntries) Withdrawn(e runlog.Entry, _ runlog.Withdrawn) error { return v.settle(e) }

func (v followedEntries) settle(e runlog.Entry) error {
	s, err := runlog.Decode[msg.Settlement](e)
	if err != nil {
		return err
	}
	v.call.unasked.forget(s.AskSeq)
	return v.handler.handleSettlement(s)
}

// Parked takes back what the client was asked, and tells it why nobody can answer.
func (v followedEntries) Parked(e runlog.Entry, p runlog.Parked) error {
	if err := v.Event(e); err != nil {
		return err
	}
	info, err := v.stream.run.info()
	if err != nil || info.Parked == nil { // it goes on already
		return err
	}
	for _, a := range info.Asks {
		if _, seq, _ := runlog.SplitAskID(a.ID); seq < e.Seq {
			v.call.unasked.forget(seq)
			err = errors.Join(err, v.handler.handleSettlement(msg.Settlement{AskSeq: seq, Reason: "the run is parked", Error: p.Detail}), v.handler.handleQuestion(v.ctx, seq))
		}
	}
	v.call.questions.notePark()
	return err
}

// Claimed asks the client the questions that were left open because the run was parked.
func (v followedEntries) Claimed(e runlog.Entry, _ runlog.Claimed) error {
	err := v.Event(e)
	for _, seq := range v.call.unasked.takeParked() {
		if err == nil {
			err = v.handler.handleQuestion(v.ctx, seq)
		}
	}
	return err
}

func (v followedEntries) Sampling(e runlog.Entry, s runlog.Sampling) error {
	if s.Approved != nil {
		if err := v.handler.handleApproval(v.ctx, s.AskSeq); err != nil {
			return err
		}
	}
	return v.Event(e)
}

// minTimerDelay is the shortest delay of the timer.
const minTimerDelay = 10 * time.Millisecond

// scheduleTimer sets the timer for whatever is due next.
func (f *follower) scheduleTimer() {
	next := f.handler.nextDeadline()
	f.timerMu.Lock()
	defer f.timerMu.Unlock()
	f.stopTimer()
	if !next.IsZero() && !f.hasReplied.Load() {
		f.timer = time.AfterFunc(max(time.Until(next), minTimerDelay), func() { f.queue.Add(f.handleTimer) })
	}
}

// handleTimer does what is due.
func (f *follower) handleTimer() {
	f.runStep(func(ctx context.Context) (r requests.Reply, done bool, err error) {
		if cause := f.inFlight.Cause(); cause != nil {
			f.handler.handleRequestEnd(cause)
			return r, true, nil
		}
		return f.handler.handleDeadline(ctx)
	})
}

// stopTimer stops the timer, which may be running already. The caller holds timerMu.
func (f *follower) stopTimer() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}

// finish passes the reply to answer, once, even if the call ends and is cancelled at the
// same time.
func (f *follower) finish(r requests.Reply) {
	if !f.hasReplied.CompareAndSwap(false, true) {
		return
	}
	f.timerMu.Lock()
	f.stopTimer()
	f.timerMu.Unlock()
	if f.call.exit() { // the run must not keep the waiter
		f.stream.run.engine.RemoveWaiter(f.stream.run.id, f)
	}
	f.answer(r)
}
