package calls

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// A call has what the calls of all kinds have in common: a run, and the parts that tell the
// client of it, on however many streams. Its methods may be called concurrently.
type call struct {
	run       *run
	origin    origin
	replies   replies
	handoff   handoff // the result of a call that ends although its run goes on
	session   *session.Session
	policy    AskPolicy
	chat      *Chat
	leave     leaveTimes
	presence  *clientsession.Presence // of the client, while a stream of the call is open; nil if it doesn't matter
	outlet    outlet
	clock     waitClock
	progress  progressCounter
	questions questionSender
	unasked   unaskedQuestions

	asked     atomic.Bool // the run has asked something
	runEnded  atomic.Bool
	handedOff atomic.Bool // the call must no longer cancel its run
}

var _ session.Call = (*call)(nil)

// Key implements [session.Call].
func (c *call) Key() string { return c.run.key() }

// RequestID implements [session.Call].
func (c *call) RequestID() json.RawMessage { return c.replies.id }

// HasEnded implements [session.Call].
func (c *call) HasEnded() bool { return c.runEnded.Load() || c.handedOff.Load() }

// HasEntry implements [session.Call].
func (c *call) HasEntry(seq uint64) bool {
	info, err := c.run.info()
	return err == nil && seq <= info.LastSeq
}

// Record implements [session.Call].
func (c *call) Record(raw []byte) { c.run.recordReceived(raw) }

// Cancel implements [session.Call].
func (c *call) Cancel() {
	c.session.Calls.Remove(c.Key())
	if !c.handedOff.Load() {
		c.origin.cancel()
	}
	c.questions.withdraw("its call was canceled")
}

// Abandon implements [session.Call].
func (c *call) Abandon() {
	if !c.HasEnded() {
		c.origin.abandon()
	}
}

// newStream returns a stream of the call, and what waits on it.
func (c *call) newStream(out requests.Sender, after uint64) (*stream, *waiting) {
	s := &stream{run: c.run, sender: c.run.recorded(out), outlet: &c.outlet, progress: &c.progress, last: after}
	return s, &waiting{policy: c.policy, leave: c.leave, stream: s, clock: &c.clock, questions: &c.questions, unasked: &c.unasked}
}

// enter records that a stream of the call is open.
func (c *call) enter() {
	if c.presence != nil {
		c.presence.Enter()
	}
}

// exit records that a stream of the call has ended. It reports whether the run goes on.
func (c *call) exit() (runGoesOn bool) {
	if c.presence != nil {
		c.presence.Leave()
	}
	c.clock.setWaiting(false, time.Now())
	return !c.runEnded.Load()
}

// finish returns the reply for a run that has ended.
func (c *call) finish(ctx context.Context, s *stream, e runlog.Entry) requests.Reply {
	c.runEnded.Store(true)
	c.outlet.close() // the next message is the call's reply
	c.outlet.flush()
	ended, err := runlog.Decode[runlog.Finished](e)
	if err != nil {
		return c.fail(err)
	}
	ended = c.origin.explainEnd(ended)
	if missing := c.unasked.missingIn(ended); missing != nil && c.run.client.IsModern() {
		return c.replies.error(missing.RPCError())
	}
	result, err := c.run.translator().Result(ctx, &s.state, ended)
	if err != nil {
		return c.fail(err)
	}
	c.origin.noteReturned(ctx)
	if ended.Status == runlog.Unanswered && c.chat.IsUsedBy(c.session, c.run.client) {
		result.IsError = false // hosts show no view of errors
	}
	return c.replies.result(result, c.run.cursor(e.Seq))
}

// fail logs err and returns the reply of a call that can't go on. If another caller has
// adopted the run, the run goes on without the call.
func (c *call) fail(err error) requests.Reply {
	if errors.Is(err, engine.ErrForbidden) {
		c.handedOff.Store(true)
		c.questions.withdraw("its run was adopted by an operator")
	}
	return c.replies.failure(err, c.run)
}

// handOff ends a call whose questions have been open, or whose run has been paused, for too
// long. Its result holds their addresses and a handle to resume the run. The run and its
// questions stay as they are. The call goes on if no question is open any more, or if there
// is no page.
func (c *call) handOff() (r requests.Reply, done bool) {
	info, waits := c.run.waitingInfo()
	if !waits {
		return requests.Reply{}, false
	}
	result, err := c.handoff.result(info)
	if err != nil {
		c.run.logger.Error("handing off a call", "run", c.run.id, "err", err)
		c.questions.noteResponse() // and try again later
		return requests.Reply{}, false
	}
	c.run.keepResult()
	if c.session.ID != "" && !c.session.Identified { // others may list their runs
		if err := c.session.RememberHandle(c.run.id); err != nil {
			c.run.logger.Error("remembering a handle", "run", c.run.id, "err", err)
		}
	}
	c.handedOff.Store(true)
	c.questions.withdraw("it was not answered in time; it is open on Beam's page")
	return c.replies.result(result, ""), true
}

// repeatHandOff repeats the handoff for a client that resumes the call's stream, since the
// first result may not have arrived.
func (c *call) repeatHandOff() (r requests.Reply, done bool) {
	if !c.handedOff.Load() {
		return requests.Reply{}, false
	}
	c.outlet.closed.Store(false)
	return c.handOff()
}

// leaveForChat ends a call whose open questions its view asks, unless the client is asked
// others. holdsQuestions reports whether the call has further questions for its client.
func (c *call) leaveForChat(holdsQuestions bool) (r requests.Reply, done bool) {
	if holdsQuestions || c.questions.isAsking() || !c.unasked.areShown() {
		return requests.Reply{}, false
	}
	return c.handOff()
}

// Resume implements [session.Call].
func (c *call) Resume(out requests.Sender, inFlight *requests.InFlight, after uint64) requests.Reply {
	d, f := c.newDirectCall(out, inFlight, after)
	c.questions.continueOn(d.stream.sender)
	r := f.followAndWait(func(ctx context.Context) (requests.Reply, bool, error) { return d.resume(ctx, after) })
	c.run.recordReply(r)
	return r
}

// An origin is how a call came by its run. It decides what the call may do to it.
type origin interface {
	// cancel cancels the run of a call that its client has cancelled.
	cancel()
	// abandon ends the run of a call that nobody will resume.
	abandon()
	// keep keeps the run while a client can resume it with a requestState.
	keep() error
	// related returns the _meta members of the requests that ask its questions; nil for none.
	related() map[string]any
	// leaves reports whether a question that the client can't be asked stays open without a
	// word to the client.
	leaves(*askdata.Question) bool
	// explainEnd adds to a run's end what the client can do.
	explainEnd(runlog.Finished) runlog.Finished
	// noteReturned is called when the client gets the run's result.
	noteReturned(context.Context)
}

// startedRun is the origin of a call that has started its run.
type startedRun struct {
	anyRun
	run *run
}

var _ origin = startedRun{}

func (o startedRun) cancel() { o.run.cancel() }

// abandon lets a durable run go on waiting for its answer.
func (o startedRun) abandon() {
	if !o.run.photon.Options().Durable {
		o.run.cancel()
	}
}

func (o startedRun) keep() error { return keepRunForState(o.run) }

// continuedRun is the origin of a request that goes on with what an earlier request of its call
// has started. The client may still have the run's requestState.
type continuedRun struct{ startedRun }

var _ origin = continuedRun{}

func (o continuedRun) abandon() {
	if err := o.keep(); err != nil {
		o.run.logger.Error("keeping a run for its requestState", "run", o.run.id, "err", err)
	}
}

// taskRun is the origin of a request about a task, which outlives all requests.
type taskRun struct {
	anyRun
	id string
}

var _ origin = taskRun{}

func (o taskRun) related() map[string]any { return tasks.RelatedMeta(o.id) }

// leaves leaves the questions that others can be asked: the task has a status message.
func (taskRun) leaves(q *askdata.Question) bool { return tasks.IsAnswerableElsewhere(q) }

// anyRun has what most origins do: nothing.
type anyRun struct{}

func (anyRun) cancel() {}

func (anyRun) abandon() {}

func (anyRun) keep() error { return nil }

func (anyRun) related() map[string]any { return nil }

func (anyRun) leaves(*askdata.Question) bool { return false }

func (anyRun) explainEnd(end runlog.Finished) runlog.Finished { return end }

func (anyRun) noteReturned(context.Context) {}
