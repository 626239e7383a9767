package tasks

import (
	"encoding/json"
	"math"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

const (
	// FirstQuestionWait is how long the reply that creates a task waits for the task's
	// first question, to include it.
	FirstQuestionWait = 250 * time.Millisecond
	// defaultTTL is how long after its start a task is kept at least, if its client
	// requests no other time; see [engine.StartRequest].
	defaultTTL = 10 * time.Minute
)

// maxWork is how long a call of the modern era works without a progress token, whose
// client sees nothing of that, before it becomes a task.
const maxWork = 2 * time.Second

// A Decision says whether a call becomes a task.
type Decision struct {
	IsTask bool // at once
	// MayBecomeTask reports whether the call becomes a task later: when it waits for an
	// answer that its client can't be asked for, or after WorkFor.
	MayBecomeTask bool
	// WorkFor is how long the call works, with no question open, before it becomes a
	// task; 0 is as long as it takes.
	WorkFor time.Duration
	// RetainFor is how long the run is kept at least; see [engine.StartRequest].
	RetainFor time.Duration
}

// Decide decides whether a call of a tool becomes a task at once. In MCP 2025-11-25, the
// client decides, with the call's parameter task, within what the photon supports
// (Tasks, Tool-Level Negotiation); in 2026-07-28, the photon and what the call does
// decide, if the client supports tasks (SEP-2663). wantsProgress reports whether the
// call has a progress token.
func Decide(c *msg.Client, support generators.TaskSupport, tool string, task json.RawMessage, wantsProgress bool) (Decision, *msg.Error) {
	switch {
	case c.IsModern():
		return decideExtension(c, support, wantsProgress)
	case c.Version != mcp.ProtocolVersion20251125, task == nil, string(task) == "null":
		if support == generators.TaskRequired {
			return Decision{}, msg.Errorf(mcp.METHOD_NOT_FOUND, "%s can only be called as a task: add the parameter task, an object (MCP 2025-11-25)", tool)
		}
		return Decision{}, nil
	case support == generators.TaskForbidden:
		return Decision{}, msg.Errorf(mcp.METHOD_NOT_FOUND, "%s can't be a task: call it without the parameter task", tool)
	}
	keep, refused := parseTTL(task)
	return Decision{IsTask: refused == nil, RetainFor: keep}, refused
}

// decideExtension is Decide for a client of the modern era.
func decideExtension(c *msg.Client, support generators.TaskSupport, wantsProgress bool) (Decision, *msg.Error) {
	supported := supportsExtension(c)
	switch {
	case support == generators.TaskRequired && !supported:
		return Decision{}, missingExtensionError()
	case !supported || support == generators.TaskForbidden:
		return Decision{}, nil
	case support == generators.TaskAfterAsking:
		return Decision{MayBecomeTask: true, WorkFor: FirstQuestionWait, RetainFor: defaultTTL}, nil
	case support == generators.TaskOptional && wantsProgress:
		return Decision{MayBecomeTask: true}, nil
	case support == generators.TaskOptional:
		return Decision{MayBecomeTask: true, WorkFor: maxWork}, nil
	}
	return Decision{IsTask: true, RetainFor: defaultTTL}, nil
}

// parseTTL decodes the parameter task and returns how long the client wants the task to
// be kept.
func parseTTL(raw json.RawMessage) (time.Duration, *msg.Error) {
	var p struct {
		TTL *float64 `json:"ttl"`
	}
	switch err := json.Unmarshal(raw, &p); {
	case err != nil:
		return 0, msg.Errorf(mcp.INVALID_PARAMS, "task must be an object with an optional ttl, a number of milliseconds: %s", msg.DescribeJSONError(err))
	case p.TTL == nil:
		return defaultTTL, nil
	case *p.TTL < 0:
		return 0, msg.Errorf(mcp.INVALID_PARAMS, "task.ttl must be a number of milliseconds, at least 0, not %v", *p.TTL)
	}
	ms := math.Min(*p.TTL, float64(engine.MaxRetention.Milliseconds()))
	return max(time.Duration(ms)*time.Millisecond, time.Millisecond), nil
}

// createResult is the CreateTaskResult of 2025-11-25 with the flat members of issue
// 1869 beside its task, so that both kinds of client find what they expect. The
// specification requires a new task to be working, whatever its state is by now.
type createResult struct {
	task
	Task task           `json:"task"`
	Meta map[string]any `json:"_meta"`
}

// CreateResult returns the result of a call that has become a task.
func (s *Service) CreateResult(r Requester, info engine.Info) any {
	if r.Client.IsModern() {
		return struct { // SEP-2663, Task Creation
			msg.ResultBase
			extensionTask
		}{s.newResultBase(r, "task"), s.newExtensionTask(r, info)}
	}
	created := createResult{task: s.newTaskFor(r, info), Meta: s.taskMeta(r, info)}
	created.Task = created.task
	if created.Status != statusWorking {
		created.Task.Status, created.Task.Message, created.Task.TTL, created.Task.Poll = statusWorking, info.LatestStatus, nil, pollIntervalWorking.Milliseconds()
	}
	if info.LatestStatus != "" {
		created.Meta[metaImmediateResponse] = info.LatestStatus
	}
	return created
}
