package mcp_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// taskPhoton returns a photon that sends a status and then asks for a word.
func taskPhoton(name string, support generators.TaskSupport) *generators.Photon {
	return generators.New(name, func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Status("looking around"))
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Task: support})
}

// createTask calls a tool as a task of 2025-11-25, and returns the task's id.
func (w *stdioClient) createTask(id int, tool string) string {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"task":{"ttl":60000}}}`, id, tool)
	return w.createdTaskID(w.awaitResponse(id))
}

func (w *stdioClient) createdTaskID(result string) string {
	w.t.Helper()
	id := strings.Trim(jsonMember(w.t, result, "result", "task", "taskId"), `"`)
	if id == "" {
		w.t.Fatalf("the call gets the response %s, want a task", result)
	}
	return id
}

// sendTaskRequest sends a request about a task.
func (w *stdioClient) sendTaskRequest(id int, method, task string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":%q}}`, id, method, task)
}

// taskStatus requests and returns a task's status.
func (w *stdioClient) taskStatus(task string) string {
	w.t.Helper()
	w.sendTaskRequest(999, "tasks/get", task)
	return strings.Trim(jsonMember(w.t, w.awaitResponse(999), "result", "status"), `"`)
}

// awaitResponse returns the response to a request, and discards the messages before it.
func (w *stdioClient) awaitResponse(id int) string {
	w.t.Helper()
	for {
		if m := w.nextLine(); jsonMember(w.t, m, "id") == fmt.Sprint(id) && jsonMember(w.t, m, "method") == "" {
			return m
		}
	}
}
