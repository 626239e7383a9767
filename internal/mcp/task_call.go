package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// taskRequester returns the request's client as the package tasks knows it.
func (rc *requestContext) taskRequester() tasks.Requester { return rc.session.taskRequester(rc.client) }

func (s *session) taskRequester(c *client) tasks.Requester {
	return tasks.Requester{
		Caller: c.caller, Client: &c.Client, PageBaseURL: s.pageBaseURL, Identified: s.identified,
		Reachable: c.IsModern() || s.currentStandalone() != nil,
	}
}

// decideTask decides whether the call becomes a task, and reports whether it does at
// once.
func (c *call) decideTask(p *requestParams) (bool, *msg.Error) {
	support := c.photon.Options().Task
	if c.isResume || c.session.asksOnlyInChat(c.client, c.photon) { // the purpose of ResumeTool is to wait; the view needs a result
		support = generators.TaskForbidden
	}
	d, refused := tasks.Decide(&c.client.Client, support, p.Name, p.Task, c.progressToken != nil)
	c.isTask, c.mayBecomeTask, c.workFor, c.retainFor = d.IsTask, d.MayBecomeTask, d.WorkFor, d.RetainFor
	return d.IsTask, refused
}

// runSurface returns the surface that the call's run is recorded with.
func (c *call) runSurface() string {
	if c.retainFor > 0 {
		return tasks.Surface
	}
	return msg.Surface
}

// createTask starts the run and returns a reply with it as a task. The task exists by
// then, because the log has its start.
func (c *call) createTask(inFlight *requests.InFlight, p *requestParams) reply {
	if err := c.startRun(inFlight.Parent(), p); err != nil {
		return c.startErrorReply(err)
	}
	if c.client.IsModern() {
		return c.createdTaskReply()
	}
	ctx := inFlight.NewContext()
	info, err := c.server.tasks.AwaitQuestions(ctx, c.client.caller, c.runID, tasks.FirstQuestionWait)
	switch {
	case errors.Is(context.Cause(ctx), requests.ErrCancelled): // the client will never know the task's id
		c.isTask = false
		c.cancelRun()
		return reply{}
	case err != nil:
		return c.internalErrorReply(err)
	}
	c.session.announceTask(info)
	return reply{message: msg.EncodeResult(c.requestID, c.server.tasks.CreateResult(c.session.taskRequester(c.client), info))}
}

// becomeTask makes a call of the modern era a task, and returns its reply. From then on
// the client has the run's id, so that the run outlives the request.
func (c *call) becomeTask() reply {
	c.mu.Lock()
	c.handedOff = true
	c.mu.Unlock()
	if c.retainFor == 0 {
		c.keepRunResult()
	}
	return c.createdTaskReply()
}

// createdTaskReply returns the reply of a call of the modern era that is a task.
func (c *call) createdTaskReply() reply {
	info, err := c.server.engine.Info(c.client.caller, c.runID)
	if err != nil {
		return c.internalErrorReply(err)
	}
	return reply{message: msg.EncodeResult(c.requestID, c.server.tasks.CreateResult(c.session.taskRequester(c.client), info))}
}

// announceTask notifies the session's client of changes of a new task, if there is a
// stream for that.
func (s *session) announceTask(info engine.Info) {
	s.mu.Lock()
	hasStream := !s.hasEnded && s.standalone != nil
	isNew := hasStream && s.taskWatch == nil
	if isNew {
		s.taskWatch = s.server.tasks.NewStatusWatch(s.caller, func() tasks.Requester { return s.taskRequester(s.initializedClient()) }, s.changes.Signal)
	}
	watch := s.taskWatch
	s.mu.Unlock()
	if isNew {
		s.changes.SetSource(watch)
		s.markInitialized() // a client that calls tools has, even if it doesn't say so
	}
	if hasStream {
		watch.Add(info)
	}
}

// withRelatedTask adds to a request's params that it belongs to the call's task.
func (c *call) withRelatedTask(params any) any {
	if !c.isTask || c.client.IsModern() {
		return params
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // they could not be sent either
	}
	return msg.WithMembers(raw, tasks.RelatedMeta(c.runID), "_meta")
}

// serveTaskRequest serves a request about a task.
func (s *Server) serveTaskRequest(rc *requestContext, m msg.Incoming, answer func(reply)) {
	answer = s.recordTaskRequest(rc, m, answer)
	if m.Method == tasks.MethodResult && rc.client.Version == version20251125 {
		s.serveTaskResult(rc, m, answer)
		return
	}
	result, refused := s.tasks.Serve(rc.inFlight.NewContext(), rc.taskRequester(), m)
	if refused != nil {
		answer(errorReply(m.ID, refused))
		return
	}
	var large *msg.LargeResult
	if r, ok := result.(interface{ TakeLarge() *msg.LargeResult }); ok {
		large = r.TakeLarge()
	}
	answer(reply{message: msg.EncodeResult(m.ID, result), large: large})
	if isPoll(rc, m) { // the client learns first that input is required
		s.askPolledTask(rc, m)
	}
}

// serveTaskResult serves tasks/result of MCP 2025-11-25. It waits for the task's end and
// meanwhile asks the client the task's questions. It sends no events, because the task
// has a statusMessage.
func (s *Server) serveTaskResult(rc *requestContext, m msg.Incoming, answer func(reply)) {
	info, refused := s.tasks.FindRequestedRun(rc.client.caller, m)
	if refused != nil {
		answer(errorReply(m.ID, refused))
		return
	}
	c := s.newTaskCall(rc.session, rc.client, rc.sender, info)
	c.requestID = m.ID
	f := c.newFollower(rc.sender, rc.inFlight)
	if rc.session.resumable && !rc.session.addResumableCall(f.call) { // the session has ended
		answer(reply{})
		return
	}
	rc.sender.SetResumeCursor(f.cursor(0))
	end := rc.session.beginResultRequest(info.ID)
	f.follow(nil, func(r reply) { end(); answer(r) })
}
