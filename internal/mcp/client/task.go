package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The bounds of the interval at which a task is polled.
const (
	minPollInterval     = 100 * time.Millisecond
	defaultPollInterval = time.Second
	maxPollInterval     = time.Minute
)

// maxPollFailures is how often in a row polling a task may fail.
const maxPollFailures = 5

// needsTask reports whether the call must be a task of 2025-11-25: the tool requires it,
// and the server has such tasks (MCP, Tasks, Tool-Level Negotiation).
func (c *Call) needsTask() bool {
	s := c.session
	if c.request.Tool == nil || s.server.Version != legacyVersions[0] {
		return false
	}
	calls := member(s.server.Capabilities, "tasks", "requests", "tools", "call")
	return calls != nil && textMember(objectOrEmpty(rawjson.Member(c.request.Tool, "execution")), "taskSupport") == "required"
}

// member returns a nested member of an object, or nil.
func member(object json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		if rawjson.TypeName(object) != rawjson.ObjectType {
			return nil
		}
		object = rawjson.Member(object, name)
	}
	return object
}

// withTaskParam returns the params of a call that is to be a task.
func withTaskParam(params json.RawMessage) json.RawMessage {
	return message.WithMembers(objectOrEmpty(params), map[string]any{"task": map[string]any{}})
}

// taskParams are the params of a request about a task.
func taskParams(id string) json.RawMessage {
	return message.WithMembers(json.RawMessage("{}"), map[string]any{"taskId": id})
}

// requestOfTask makes a request about the call's task, and waits for its result until the
// call ends.
func (c *Call) requestOfTask(method string, params json.RawMessage) (json.RawMessage, error) {
	return c.session.await(c.ctx, &pendingRequest{method: method, params: params, taskOf: c})
}

// followTask follows the task that a result has created. It reports false if the result
// created none.
func (c *Call) followTask(result json.RawMessage) bool {
	task, follow := result, c.followExtensionTask
	switch {
	case c.session.IsModern():
		if textMember(result, "resultType") != "task" {
			return false
		}
	case c.needsTask():
		if task = objectOrNil(rawjson.Member(result, "task")); task == nil {
			return false
		}
		follow = c.followLegacyTask
	default:
		return false
	}
	id := textMember(task, "taskId")
	if id == "" || len(id) > message.MaxIDSize {
		c.finish(nil, errors.New("the server made a task without a valid id"))
		return true
	}
	c.session.mu.Lock()
	c.task = id
	c.session.mu.Unlock()
	go follow(id, task)
	return true
}

// cancelTask asks the server to cancel the call's task, if it is one.
func (c *Call) cancelTask() {
	c.session.mu.Lock()
	id := c.task
	c.session.mu.Unlock()
	if id != "" {
		c.session.begin(&pendingRequest{method: "tasks/cancel", params: taskParams(id), taskOf: c}, func(json.RawMessage, error) {})
	}
}

// followLegacyTask requests the result of a task, which the server sends when the task
// ends. Until then, it asks on the stream of this request.
func (c *Call) followLegacyTask(id string, task json.RawMessage) {
	go c.pollStatus(id, task)
	c.begin(&pendingRequest{method: "tasks/result", params: taskParams(id)}, func(result json.RawMessage, err error) {
		c.forgetTask()
		c.finish(result, err)
	})
}

// forgetTask makes that an ended task isn't cancelled.
func (c *Call) forgetTask() {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.task = ""
}

// pollStatus tells of the task's status messages until the call is over.
func (c *Call) pollStatus(id string, task json.RawMessage) {
	said := c.tellStatus(task, "")
	for c.sleep(pollInterval(task, "pollInterval")) {
		polled, err := c.requestOfTask("tasks/get", taskParams(id))
		if err != nil {
			return // the result says what is wrong
		}
		task, said = polled, c.tellStatus(polled, said)
	}
}

// tellStatus adds the task's status message to the call's events, if it differs from the
// one that was said before, and returns it.
func (c *Call) tellStatus(task json.RawMessage, said string) string {
	text := textMember(task, "statusMessage")
	if text != "" && text != said {
		params := message.WithMembers(json.RawMessage("{}"), map[string]any{"statusMessage": text})
		c.events.push(Event{Notification: &Notification{Method: "notifications/tasks/status", Params: params}})
	}
	return text
}

// pollInterval returns the interval that a task suggests, within bounds.
func pollInterval(task json.RawMessage, name string) time.Duration {
	var ms float64
	if json.Unmarshal(rawjson.Member(objectOrEmpty(task), name), &ms) != nil || ms <= 0 {
		return defaultPollInterval
	}
	return time.Duration(min(max(ms, float64(minPollInterval/time.Millisecond)), float64(maxPollInterval/time.Millisecond))) * time.Millisecond
}

// sleep waits, and reports false if the call is over.
func (c *Call) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// taskError returns the error of a task that ended without a result.
func taskError(status string, task json.RawMessage) error {
	if raw := objectOrNil(rawjson.Member(task, "error")); raw != nil {
		if e := decodeError(raw); e != nil {
			return e
		}
	}
	if text := textMember(task, "statusMessage"); text != "" {
		return fmt.Errorf("the task is %s: %s", humanize.Truncate(status, 50), humanize.Truncate(text, 500))
	}
	return fmt.Errorf("the task is %s", humanize.Truncate(status, 50))
}
