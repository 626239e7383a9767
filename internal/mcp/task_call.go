package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
)

// asTask tells whether a call is to be a task. In MCP 2025-11-25 the caller
// says so, within what the photon allows (Tasks, Tool-Level Negotiation); in
// 2026-07-28 the photon does, if the caller takes tasks (SEP-2663).
func (c *call) asTask(p *params) (bool, *rpcError) {
	support := c.photon.Options().Task
	if c.resumed { // what is called is ResumeTool: it waits, which is what it is for
		support = generators.TaskForbidden
	}
	switch {
	case c.client.modern():
		return c.asHandle(support)
	case c.client.version != november2025, p.Task == nil, string(p.Task) == "null":
		if support == generators.TaskRequired {
			return false, faultf(mcp.METHOD_NOT_FOUND, "%s is called as a task only: with the parameter task, an object (MCP 2025-11-25)", p.Name)
		}
		return false, nil
	case support == generators.TaskForbidden:
		return false, faultf(mcp.METHOD_NOT_FOUND, "%s can't be a task: call it without the parameter task", p.Name)
	}
	keep, refused := keepFor(p.Task)
	c.task, c.keep = refused == nil, keep
	return c.task, refused
}

// asHandle is asTask for a client of the modern era.
func (c *call) asHandle(support generators.TaskSupport) (bool, *rpcError) {
	taken := c.client.takesTasks()
	switch {
	case support == generators.TaskRequired && !taken:
		return false, needsTasks()
	case taken && support == generators.TaskAfterAsking:
		c.keep = defaultKeep // it may be one, see round
	case taken && (support == generators.TaskRequired || support == generators.TaskPreferred):
		c.task, c.keep = true, defaultKeep
	}
	return c.task, nil
}

// afterAsking tells whether a call becomes a task when it asks no more.
func (c *call) afterAsking() bool { return c.keep > 0 }

// surface is where the call's run is recorded to come from.
func (c *call) surface() string {
	if c.keep > 0 {
		return taskSurface
	}
	return surface
}

// keepFor reads the parameter task: for how long its client wants it kept.
func keepFor(raw json.RawMessage) (time.Duration, *rpcError) {
	var p struct {
		TTL *float64 `json:"ttl"`
	}
	switch err := json.Unmarshal(raw, &p); {
	case err != nil:
		return 0, faultf(mcp.INVALID_PARAMS, "task must be an object with a ttl, a number of milliseconds, or without: %s", jsonFault(err))
	case p.TTL == nil:
		return defaultKeep, nil
	case *p.TTL < 0:
		return 0, faultf(mcp.INVALID_PARAMS, "task.ttl must be a number of milliseconds from 0 on, not %v", *p.TTL)
	}
	ms := math.Min(*p.TTL, float64(run.MaxKeep.Milliseconds()))
	return max(time.Duration(ms)*time.Millisecond, time.Millisecond), nil
}

// createTask starts the run and replies with it as a task. When it replies, the
// task is there: the log has its start.
func (c *call) createTask(flight *flight, p *params) reply {
	if refused := c.start(flight.parent, p); refused != nil {
		return *refused
	}
	if c.client.modern() {
		return c.created()
	}
	ctx := flight.context()
	info, err := c.server.until(ctx, c.client.who, c.run, soonAsked, settledDown)
	switch {
	case errors.Is(context.Cause(ctx), errCancelled): // nobody will know its id
		c.task = false
		c.stop()
		return reply{}
	case err != nil:
		return c.broken(err)
	}
	c.session.tellOf(info)
	return reply{message: response(c.id, c.createResult(info))}
}

// createResult is the CreateTaskResult of 2025-11-25, and beside its task the
// flat members of issue 1869, so that both kinds of client find what they read.
// A task of the specification begins working, whatever it has become.
type createResult struct {
	task
	Task task           `json:"task"`
	Meta map[string]any `json:"_meta"`
}

func (c *call) createResult(info run.Info) createResult {
	r := createResult{task: c.session.taskFor(c.client, info), Meta: c.session.taskMeta(c.client, info)}
	r.Task = r.task
	if r.Status != taskWorking {
		r.Task.Status, r.Task.Message, r.Task.TTL, r.Task.Poll = taskWorking, info.Said, nil, pollWorking.Milliseconds()
	}
	if info.Said != "" {
		r.Meta[metaImmediateResponse] = info.Said
	}
	return r
}
