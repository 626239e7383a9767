package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

// A client that knows only the specification polls, requests the result when input is
// required, is asked on the result's stream, and gets the result.
func TestTaskAsksOnResultStream(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	created := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{"ttl":60000}}}`)
	id := jsonMember(t, created, "result", "task", "taskId")
	if got := jsonMember(t, created, "result", "task", "status"); got != `"working"` {
		t.Errorf("the task begins %s, want working", got)
	}
	polled := v.requestJSON(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":` + id + `}}`)
	if got := jsonMember(t, polled, "result", "status"); got != `"input_required"` {
		t.Errorf("the task is %s, want input_required", got)
	}
	next := v.readEvents(v.postMessage(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":` + id + `}}`))
	question := next().data
	want := `{"jsonrpc":"2.0","id":"RUN.4","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"message":"Which word?\n\nThis question is lost if Beam restarts.","mode":"form",` +
		`"requestedSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}}`
	if got := maskIDs(question); got != want {
		t.Errorf("the task asks\n%s\nwant\n%s", got, want)
	}
	v.postAnswer(question, `{"word":"fish"}`)
	want = `{"jsonrpc":"2.0","id":3,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`
	if got := maskIDs(next().data); got != want {
		t.Errorf("the result is\n%s\nwant\n%s", got, want)
	}
	polled = v.requestJSON(`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":` + id + `}}`)
	want = `{"jsonrpc":"2.0","id":4,"result":{"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
	if got := maskTimes(polled); got != want {
		t.Errorf("in the end the task is\n%s\nwant\n%s", got, want)
	}
	if ttl := jsonMember(t, polled, "result", "ttl"); ttl < "60000" || len(ttl) != 5 {
		t.Errorf("the task is kept for %s ms, want its minute at least, counted from its end", ttl)
	}
}

// The request for the result may be cancelled and sent again without affecting the
// task.
func TestTaskOutlivesResultRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, taskPhoton("word", ""))
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		task := w.createTask(1, "word")
		w.sendTaskRequest(2, "tasks/result", task)
		question := w.nextLine()
		for !strings.Contains(question, "elicitation/create") {
			question = w.nextLine()
		}
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if got := w.nextLine(); !strings.Contains(got, `"method":"notifications/cancelled"`) {
			t.Errorf("the question is withdrawn with %s", got)
		}
		if got := w.taskStatus(task); got != "input_required" {
			t.Fatalf("the task is %s after its result was not wanted any more, want input_required", got)
		}
		w.sendTaskRequest(3, "tasks/result", task)
		question = w.nextLine()
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, jsonMember(t, question, "id"))
		if got := w.awaitResponse(3); !strings.Contains(got, `"text":"fish"`) {
			t.Errorf("the result is %s", got)
		}
		w.closeAndWait()
	})
}

// A stream of tasks/result that breaks off is resumed, with the question that was open,
// and loses nothing.
func TestTaskResultStreamIsResumed(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	created := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	id := strings.Trim(jsonMember(t, created, "result", "taskId"), `"`)
	ctx, breakOff := context.WithCancel(t.Context())
	v.ctx = ctx
	first := v.readEvents(v.postMessage(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + id + `"}}`))()
	breakOff()
	v.ctx = t.Context()
	call, _, _ := strings.Cut(first.id, ".")
	next := v.readEvents(v.sendRequest("GET", "", "Last-Event-ID", call+".0"))
	again := next().data
	if again != first.data {
		t.Errorf("the stream is resumed with\n%s\nwant\n%s", again, first.data)
	}
	v.postAnswer(again, `{"word":"fish"}`)
	if got := next().data; !strings.Contains(got, `"id":2,"result":`) || !strings.Contains(got, `"text":"fish"`) {
		t.Errorf("the result is %s", got)
	}
}
