package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// decideTask reports whether a call becomes a task at once. In MCP 2025-11-25, the
// client decides, within what the photon allows (Tasks, Tool-Level Negotiation); in
// 2026-07-28, the photon does, if the client supports tasks (SEP-2663).
func (c *call) decideTask(p *requestParams) (bool, *msg.Error) {
	support := c.photon.Options().Task
	if c.isResume { // the purpose of ResumeTool is to wait
		support = generators.TaskForbidden
	}
	switch {
	case c.client.IsModern():
		return c.decideExtensionTask(support)
	case c.client.Version != version20251125, p.Task == nil, string(p.Task) == "null":
		if support == generators.TaskRequired {
			return false, msg.Errorf(mcp.METHOD_NOT_FOUND, "%s can only be called as a task: add the parameter task, an object (MCP 2025-11-25)", p.Name)
		}
		return false, nil
	case support == generators.TaskForbidden:
		return false, msg.Errorf(mcp.METHOD_NOT_FOUND, "%s can't be a task: call it without the parameter task", p.Name)
	}
	keep, refused := parseTaskTTL(p.Task)
	c.isTask, c.retainFor = refused == nil, keep
	return c.isTask, refused
}

// decideExtensionTask is decideTask for a client of the modern era.
func (c *call) decideExtensionTask(support generators.TaskSupport) (bool, *msg.Error) {
	supported := c.client.supportsTasks()
	switch {
	case support == generators.TaskRequired && !supported:
		return false, missingTasksError()
	case supported && support == generators.TaskAfterAsking:
		c.retainFor = defaultTaskTTL // it may become one; see roundTrip
	case supported && (support == generators.TaskRequired || support == generators.TaskPreferred):
		c.isTask, c.retainFor = true, defaultTaskTTL
	}
	return c.isTask, nil
}

// becomesTaskAfterAsking reports whether the call becomes a task once no question is
// open.
func (c *call) becomesTaskAfterAsking() bool { return c.retainFor > 0 }

// runSurface returns the surface that the call's run is recorded with.
func (c *call) runSurface() string {
	if c.retainFor > 0 {
		return surfaceTask
	}
	return surfaceMCP
}

// parseTaskTTL decodes the parameter task and returns how long the client wants the
// task to be kept.
func parseTaskTTL(raw json.RawMessage) (time.Duration, *msg.Error) {
	var p struct {
		TTL *float64 `json:"ttl"`
	}
	switch err := json.Unmarshal(raw, &p); {
	case err != nil:
		return 0, msg.Errorf(mcp.INVALID_PARAMS, "task must be an object with an optional ttl, a number of milliseconds: %s", msg.DescribeJSONError(err))
	case p.TTL == nil:
		return defaultTaskTTL, nil
	case *p.TTL < 0:
		return 0, msg.Errorf(mcp.INVALID_PARAMS, "task.ttl must be a number of milliseconds, at least 0, not %v", *p.TTL)
	}
	ms := math.Min(*p.TTL, float64(engine.MaxRetention.Milliseconds()))
	return max(time.Duration(ms)*time.Millisecond, time.Millisecond), nil
}

// createTask starts the run and returns a reply with it as a task. The task exists by
// then, because the log has its start.
func (c *call) createTask(inFlight *inFlightRequest, p *requestParams) reply {
	if refused := c.startRun(inFlight.parentContext, p); refused != nil {
		return *refused
	}
	if c.client.IsModern() {
		return c.taskCreatedReply()
	}
	ctx := inFlight.newContext()
	info, err := c.server.awaitRunState(ctx, c.client.caller, c.runID, firstQuestionWait, hasEndedOrAsked)
	switch {
	case errors.Is(context.Cause(ctx), errRequestCancelled): // the client will never know the task's id
		c.isTask = false
		c.cancelRun()
		return reply{}
	case err != nil:
		return c.internalErrorReply(err)
	}
	c.session.announceTask(info)
	return reply{message: msg.EncodeResult(c.requestID, c.newCreateTaskResult(info))}
}

// createTaskResult is the CreateTaskResult of 2025-11-25 with the flat members of issue
// 1869 beside its task, so that both kinds of client find what they expect. The
// specification requires a new task to be working, whatever its state is by now.
type createTaskResult struct {
	task
	Task task           `json:"task"`
	Meta map[string]any `json:"_meta"`
}

func (c *call) newCreateTaskResult(info engine.Info) createTaskResult {
	r := createTaskResult{task: c.session.newTaskFor(c.client, info), Meta: c.session.taskMeta(c.client, info)}
	r.Task = r.task
	if r.Status != taskWorking {
		r.Task.Status, r.Task.Message, r.Task.TTL, r.Task.Poll = taskWorking, info.LatestStatus, nil, pollIntervalWorking.Milliseconds()
	}
	if info.LatestStatus != "" {
		r.Meta[metaImmediateResponse] = info.LatestStatus
	}
	return r
}
