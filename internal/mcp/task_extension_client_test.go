package mcp_test

import (
	"strings"
)

const tasksCapabilities = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// requestModern sends a request of 2026-07-28 with more params, and returns its
// response.
func (w *stdioClient) requestModern(id int, method, params, caps string) string {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,%s}}`, id, method, params, modernMeta(caps, ""))
	return w.awaitResponse(id)
}

// callExtensionTask calls a tool that is a task, and returns the params that name the
// task.
func (w *stdioClient) callExtensionTask(id int, tool string) string {
	w.t.Helper()
	created := w.requestModern(id, "tools/call", `"name":"`+tool+`"`, tasksCapabilities)
	if jsonMember(w.t, created, "result", "resultType") != `"task"` {
		w.t.Fatalf("the call gets the response %s, want a task", created)
	}
	return `"taskId":` + jsonMember(w.t, created, "result", "taskId")
}

// pollUntil polls until the task has a status, and returns the task.
func (w *stdioClient) pollUntil(params, status string) string {
	w.t.Helper()
	for {
		got := w.requestModern(998, "tasks/get", params, tasksCapabilities)
		if jsonMember(w.t, got, "result", "status") == `"`+status+`"` {
			return got
		}
		if !strings.Contains(got, `"status":"working"`) && !strings.Contains(got, `"status":"input_required"`) {
			w.t.Fatalf("the task became %s, want %s", got, status)
		}
	}
}
