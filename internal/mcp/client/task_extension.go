package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// tasksExtension is the name of the extension with the tasks of 2026-07-28 (SEP-2663).
const tasksExtension = "io.modelcontextprotocol/tasks"

// An extensionTask is a task of the extension that a call became.
type extensionTask struct {
	call *Call
	id   string
	said string // its latest status message

	mu   sync.Mutex
	open map[string]*ServerRequest // its questions, by the server's key
}

// followExtensionTask polls a task until it ends, and asks its questions.
func (c *Call) followExtensionTask(id string, created json.RawMessage) {
	t := &extensionTask{call: c, id: id, open: make(map[string]*ServerRequest)}
	t.said = c.tellStatus(created, "")
	task, failures := created, 0
	for wait := minPollInterval; c.sleep(wait); wait = pollInterval(task, "pollIntervalMs") {
		polled, err := c.requestOfTask("tasks/get", taskParams(id))
		var refused *message.Error
		switch {
		case c.ctx.Err() != nil:
			return
		case errors.As(err, &refused):
			c.forgetTask()
			c.finish(nil, err)
			return
		case err != nil:
			if failures++; failures == maxPollFailures {
				c.finish(nil, err)
				return
			}
			continue
		}
		task, failures = objectOrEmpty(polled), 0
		t.said = c.tellStatus(task, t.said)
		if t.handle(task) {
			return
		}
	}
}

// handle handles the state of the task, and reports whether it has ended.
func (t *extensionTask) handle(task json.RawMessage) (ended bool) {
	c := t.call
	switch status := textMember(task, "status"); status {
	case "working":
		t.ask(nil)
		return false
	case "input_required":
		inputs, err := parseInputs(rawjson.Member(task, "inputRequests"))
		if err != nil {
			c.abandon(err)
			return true
		}
		t.ask(inputs)
		return false
	case "completed":
		c.forgetTask()
		if result := objectOrNil(rawjson.Member(task, "result")); result != nil {
			c.finish(result, nil)
		} else {
			c.finish(nil, errors.New("the server's task was completed without a result"))
		}
		return true
	default:
		c.forgetTask()
		c.finish(nil, taskError(status, task))
		return true
	}
}

// ask asks the task's questions that are new, and withdraws those that are open no more.
func (t *extensionTask) ask(inputs []input) {
	t.mu.Lock()
	defer t.mu.Unlock()
	isOpen := make(map[string]bool, len(inputs))
	for _, i := range inputs {
		isOpen[i.key] = true
		if t.open[i.key] != nil {
			continue
		}
		r := &ServerRequest{Method: i.Method, Params: objectOrEmpty(i.Params), Key: i.key}
		r.ctx, r.cancel = context.WithCancelCause(t.call.ctx)
		r.respond = func(result json.RawMessage, refused *message.Error) { go t.sendAnswer(i.key, result, refused) }
		if !r.offer(t.call) {
			r.withdraw(errCallOver)
			return
		}
		t.open[i.key] = r
	}
	for key, r := range t.open {
		if !isOpen[key] {
			delete(t.open, key)
			r.withdraw(errors.New("the server needs no answer anymore"))
		}
	}
}

// sendAnswer sends the answer to a question of the task. If there is none, the call ends.
func (t *extensionTask) sendAnswer(key string, result json.RawMessage, refused *message.Error) {
	if refused != nil {
		t.call.abandon(&InputError{Key: key, Cause: refused})
		return
	}
	params := message.WithMembers(taskParams(t.id), map[string]any{"inputResponses": map[string]json.RawMessage{key: result}})
	if _, err := t.call.requestOfTask("tasks/update", params); err != nil && t.call.ctx.Err() == nil {
		t.call.abandon(err)
	}
}
