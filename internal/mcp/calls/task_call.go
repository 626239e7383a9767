package calls

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A futureTask is what a call of the modern era may become. It is immutable.
type futureTask struct {
	tasks     *tasks.Service
	requester tasks.Requester
	// at is when the call becomes a task unless a question is open; zero if it becomes one
	// only when it waits.
	at time.Time
	// afterAsking reports whether the call becomes a task when all its questions are
	// answered.
	afterAsking bool
	isKept      bool // the run's result is kept for a task anyway
}

// futureTask returns what a call may become, or nil.
func (s *starter) futureTask(r *session.Request, start start) *futureTask {
	d := start.decision
	if !d.MayBecomeTask {
		return nil
	}
	t := &futureTask{
		tasks: s.config.Tasks, requester: r.TaskRequester(), isKept: d.RetainFor > 0,
		afterAsking: start.photon.Options().Task == generators.TaskAfterAsking,
	}
	if d.WorkFor > 0 {
		t.at = time.Now().Add(d.WorkFor)
	}
	return t
}

// due returns when the call becomes a task unless a question is open, or zero.
func (t *futureTask) due() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.at
}

// becomeTask makes the call a task, and returns its reply. From then on the client has the
// run's id, so that the run outlives the request.
func (t *roundTrip) becomeTask() requests.Reply {
	t.call.handedOff.Store(true)
	if !t.task.isKept {
		t.call.run.keepResult()
	}
	info, err := t.call.run.info()
	if err != nil {
		return t.call.fail(err)
	}
	return requests.Reply{Message: msg.EncodeResult(t.call.replies.id, t.task.tasks.CreateResult(t.task.requester, info))}
}

// taskCalls serves requests about tasks, and the calls that become tasks at once.
type taskCalls struct{ starter *starter }

// decide decides whether a call becomes a task.
func (t *taskCalls) decide(r *session.Request, photon *generators.Photon) (tasks.Decision, *msg.Error) {
	support := photon.Options().Task
	if t.starter.config.Chat.IsOnlyPlace(r.Session, r.Client, photon) { // the view needs a result
		support = generators.TaskForbidden
	}
	return tasks.Decide(&r.Client.Client, support, r.Params.Name, r.Params.Task, r.Params.Meta.ProgressToken != nil)
}

// create starts a run and returns a reply with it as a task. The task exists by then,
// because the log has its start.
func (t *taskCalls) create(r *session.Request, start start) requests.Reply {
	run, err := t.starter.startRun(r.InFlight.Parent(), r, start)
	if err != nil {
		return t.starter.startFailure(r, start, err)
	}
	reply := t.createdTask(r, run)
	run.recordReply(reply)
	return reply
}

// createdTask returns the reply with a new task.
func (t *taskCalls) createdTask(r *session.Request, run *run) requests.Reply {
	if r.Client.IsModern() {
		info, err := run.info()
		if err != nil {
			return t.starter.replies(r, toolResult).failure(err, run)
		}
		return r.Result(t.starter.config.Tasks.CreateResult(r.TaskRequester(), info))
	}
	ctx := r.InFlight.NewContext()
	info, err := t.starter.config.Tasks.AwaitQuestions(ctx, r.Client.Caller, run.id, tasks.FirstQuestionWait)
	switch {
	case errors.Is(context.Cause(ctx), requests.ErrCancelled): // the client will never know the task's id
		run.cancel()
		return requests.Reply{}
	case err != nil:
		return t.starter.replies(r, taskResult(run.id)).failure(err, run)
	}
	t.announceTask(r.Session, info)
	return r.Result(t.starter.config.Tasks.CreateResult(r.TaskRequester(), info))
}

// announceTask notifies the session's client of changes of a new task, if there is a
// stream for that.
func (t *taskCalls) announceTask(sess *session.Session, info engine.Info) {
	switch {
	case sess.Stream.Current() != nil:
		sess.MarkInitialized() // a client that calls tools has, even if it doesn't say so
		t.watch(sess).Add(info)
	case sess.Peers() != nil:
		sess.Peers().AnnounceTask(sess.ID, info.ID)
	}
}

// watch returns what notifies a session's client of changes of its tasks.
func (t *taskCalls) watch(sess *session.Session) *tasks.Watch {
	return sess.Changes.TaskWatch(func() *tasks.Watch {
		requester := func() tasks.Requester { return sess.TaskRequester(sess.Client()) }
		return t.starter.config.Tasks.NewStatusWatch(sess.Caller(), requester, sess.Changes.Signal)
	})
}

// serve serves a request about a task.
func (t *taskCalls) serve(r *session.Request, answer func(requests.Reply)) {
	info, notFound := t.starter.config.Tasks.FindRequestedRun(r.Client.Caller, r.Message)
	if notFound == nil {
		run := t.starter.newRun(r, nil, info.ID)
		run.recordReceived(r.Message.Raw)
		answer = run.recordReplies(answer)
	}
	isOld := r.Client.Version == mcp.ProtocolVersion20251125
	if r.Message.Method == tasks.MethodResult && isOld {
		if notFound != nil {
			answer(r.Error(notFound))
			return
		}
		t.serveTaskResult(r, info, answer)
		return
	}
	result, refused := t.starter.config.Tasks.Serve(r.InFlight.NewContext(), r.TaskRequester(), r.Message)
	if refused != nil {
		answer(r.Error(refused))
		return
	}
	reply := r.Result(result)
	if l, ok := result.(interface{ TakeLarge() *msg.LargeResult }); ok {
		reply.Large = l.TakeLarge()
	}
	answer(reply)
	if r.Message.Method == tasks.MethodGet && isOld { // the client learns first that input is required
		t.askPolledTask(r)
	}
}

// newTaskCall returns a call that asks a client the questions of a task's run, from its
// beginning, and sends no log messages.
func (t *taskCalls) newTaskCall(r *session.Request, info engine.Info, number uint32) *call {
	quiet := *r.Client
	quiet.LogLevel = msg.NoLogging
	asked := *r
	asked.Client = &quiet
	run := t.starter.newRun(&asked, t.starter.photonOf(info), info.ID)
	run.number, run.progressToken = number, nil
	t.starter.addTicket(r, run)
	return t.starter.newCall(&asked, run, taskRun{id: run.id}, taskResult(run.id))
}

// serveTaskResult serves tasks/result of MCP 2025-11-25. It waits for the task's end and
// meanwhile asks the client the task's questions. It sends no events, because the task
// has a statusMessage.
func (t *taskCalls) serveTaskResult(r *session.Request, info engine.Info, answer func(requests.Reply)) {
	c := t.newTaskCall(r, info, t.starter.lastNumber.Add(1))
	r.Sender.SetResumeCursor(c.run.cursor(0))
	end := r.Session.Polled.BeginResultRequest(info.ID)
	c.followDirectly(r, 0, false, func(reply requests.Reply) { end(); answer(reply) })
}

// askPolledTask asks the client the open questions of a task if it polls the task and does
// not request the result: if it has seen the first of them before.
func (t *taskCalls) askPolledTask(r *session.Request) {
	stream := r.Session.Stream.Current()
	if stream == nil || !canBeAsked(r.Client) {
		return
	}
	info, refused := t.starter.config.Tasks.FindRequestedRun(r.Client.Caller, r.Message)
	if refused != nil || info.State != engine.Waiting || len(info.Asks) == 0 {
		return
	}
	asking, isDue := r.Session.Polled.RecordPoll(info.ID, info.Asks[0].ID, stream)
	if !isDue {
		return
	}
	d, f := t.newTaskCall(r, info, t.starter.lastNumber.Add(1)).newDirectCall(stream.Sender, asking, 0)
	d.call.questions.continueOn(d.stream.sender)
	d.requestEnded = func(cause error) {
		if cause != requests.ErrSessionEnded && cause != session.ErrClientLeft {
			d.call.questions.withdraw(cause.Error())
		}
	}
	go f.follow(r.Session.Steps, nil, func(requests.Reply) { r.Session.Polled.EndAsking(info.ID, asking) }) // nobody has requested the result
}

// canBeAsked reports whether there are questions that the client can be asked.
func canBeAsked(c *requests.Client) bool {
	return c.SupportsForms() || c.SupportsURLs() || c.SupportsSampling() || c.SupportsRoots()
}
