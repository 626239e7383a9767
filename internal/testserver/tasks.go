package testserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// tasksExtension is the extension of 2026-07-28 that has tasks.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Whether a call can be a task.
const (
	taskOptional = "optional"
	taskRequired = "required"
)

// A task is a call whose result is fetched later: a task of 2025-11-25 or of the
// extension.
type task struct {
	id      string
	server  *Server
	created time.Time
	cancel  context.CancelCauseFunc
	ended   chan struct{}

	mu       sync.Mutex
	status   string
	updated  time.Time
	open     map[string]question             // questions without an answer, in the extension
	answers  map[string]chan json.RawMessage // where their answers go
	watchers chan struct{}                   // closed when a stream for the task's messages comes
	out      sender                          // of tasks/result, where the task's questions go
	result   object
	err      error
}

// becomesTask reports whether a call becomes a task: because the client wants it
// (2025-11-25), or because the tool does and the client supports it (the extension).
func (t *tool) becomesTask(r *request) bool {
	if r.isModern() {
		var declared struct{ Extensions map[string]any }
		_ = json.Unmarshal(r.declared(), &declared) // what isn't valid declares nothing
		_, supported := declared.Extensions[tasksExtension]
		return t.task != "" && supported
	}
	return t.task != "" && r.Task != nil && r.version == mcp.ProtocolVersion20251125
}

// startTask runs a call as a task, and returns the result that says so.
func (s *Server) startTask(r *request, t *tool) (object, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.ctx))
	now := time.Now().UTC()
	k := &task{
		id: rand.Text(), server: s, created: now, updated: now, status: "working", cancel: cancel, ended: make(chan struct{}),
		open: map[string]question{}, answers: map[string]chan json.RawMessage{}, watchers: make(chan struct{}),
	}
	s.mu.Lock()
	s.tasks[k.id] = k
	s.mu.Unlock()
	call := *r
	call.ctx, call.task = ctx, k
	go func() {
		defer cancel(nil)
		k.end(t.call(&call))
	}()
	if r.isModern() {
		created := k.describe(r)
		created["resultType"] = "task"
		return created, nil
	}
	return object{"task": k.describe(r)}, nil
}

// end records how the task's call ended.
func (k *task) end(result object, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.result, k.err, k.updated = result, err, time.Now().UTC()
	switch {
	case k.status == "cancelled":
	case err != nil, result["isError"] == true:
		k.status = "failed"
	default:
		k.status = "completed"
	}
	close(k.ended)
}

// describe returns the task for the client of a request.
func (k *task) describe(r *request) object {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := object{"taskId": k.id, "status": k.status, "createdAt": k.created, "lastUpdatedAt": k.updated}
	if r.isModern() {
		o["ttlMs"], o["pollIntervalMs"] = 600_000, 50
		return o
	}
	o["ttl"], o["pollInterval"] = 600_000, 50
	return o
}

// ask asks the client questions of a task: in its tasks/get (the extension), or on the
// stream of its tasks/result (2025-11-25).
func (k *task) ask(r *request, questions []question) ([]json.RawMessage, error) {
	k.setStatus("input_required")
	defer k.setStatus("working")
	answers := make([]json.RawMessage, len(questions))
	for i, q := range questions {
		r.asked++
		var err error
		if r.isModern() {
			answers[i], err = k.offer(r, fmt.Sprintf("ask-%d", r.asked), q)
		} else {
			answers[i], err = k.send(r, q)
		}
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (k *task) setStatus(status string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.status != "cancelled" {
		k.status, k.updated = status, time.Now().UTC()
	}
}

// offer waits for a tasks/update with the answer.
func (k *task) offer(r *request, key string, q question) (json.RawMessage, error) {
	answer := make(chan json.RawMessage, 1)
	k.mu.Lock()
	k.open[key], k.answers[key] = q, answer
	k.mu.Unlock()
	select {
	case a := <-answer:
		return a, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// send sends a question on the stream of tasks/result, once there is one. Over stdio
// there is only one stream.
func (k *task) send(r *request, q question) (json.RawMessage, error) {
	if _, isStdio := r.out.(lineSender); !isStdio {
		select {
		case <-k.watchers:
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
		k.mu.Lock()
		r.out = k.out
		k.mu.Unlock()
	}
	raw, err := json.Marshal(q.Params)
	if err != nil {
		return nil, err
	}
	return r.send(r.session.newID(), question{q.Method, msg.WithMembers(raw, object{"_meta": relatedTask(k.id)})})
}

// relatedTask returns the _meta of a message that belongs to a task.
func relatedTask(id string) object {
	return object{"io.modelcontextprotocol/related-task": object{"taskId": id}}
}

// findTask returns the task that a request names.
func (r *request) findTask() (*task, error) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	if k := r.server.tasks[r.TaskID]; k != nil {
		return k, nil
	}
	return nil, msg.Errorf(mcp.INVALID_PARAMS, "there is no task %q", r.TaskID)
}

// getTask serves tasks/get.
func getTask(r *request) (object, error) {
	k, err := r.findTask()
	if err != nil {
		return nil, err
	}
	o := k.describe(r)
	if !r.isModern() {
		return o, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case len(k.open) > 0:
		o["inputRequests"] = maps.Clone(k.open)
	case k.result != nil:
		result := maps.Clone(k.result)
		result["resultType"] = "complete"
		o["status"], o["result"] = "completed", result
	case k.err != nil:
		o["error"] = msg.Errorf(mcp.INTERNAL_ERROR, "%v", k.err)
	}
	return o, nil
}

// updateTask serves tasks/update, which has the answers to a task's questions.
func updateTask(r *request) (object, error) {
	k, err := r.findTask()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, answer := range r.Responses {
		if _, isOpen := k.open[key]; isOpen {
			delete(k.open, key)
			k.answers[key] <- answer
		}
	}
	return object{}, nil
}

// cancelTask serves tasks/cancel.
func cancelTask(r *request) (object, error) {
	k, err := r.findTask()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	if k.status == "working" || k.status == "input_required" {
		k.status = "cancelled"
		k.cancel(errCancelled)
	}
	clear(k.open)
	k.mu.Unlock()
	if r.isModern() {
		return object{}, nil
	}
	return k.describe(r), nil
}

// getTaskResult serves tasks/result, which waits for the task's end.
func getTaskResult(r *request) (object, error) {
	k, err := r.findTask()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	if k.out == nil {
		close(k.watchers)
	}
	k.out = r.out
	k.mu.Unlock()
	select {
	case <-k.ended:
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
	if k.err != nil {
		return nil, k.err
	}
	result := maps.Clone(k.result)
	result["_meta"] = relatedTask(k.id)
	return result, nil
}

// listTasks serves tasks/list.
func listTasks(r *request) (object, error) {
	r.server.mu.Lock()
	all := slices.Collect(maps.Values(r.server.tasks))
	r.server.mu.Unlock()
	list := []any{}
	for _, k := range all {
		list = append(list, k.describe(r))
	}
	return object{"tasks": list}, nil
}
