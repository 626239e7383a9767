package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
)

// createPolledTask creates a task that asks for a word, and polls it until the question has
// been seen twice. It returns the task's id and the last response.
func (v *httpClient) createPolledTask() (id, polled string) {
	v.t.Helper()
	created := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	id = jsonMember(v.t, created, "result", "taskId")
	return id, v.pollTask(id)
}

// pollTask polls a task until the client has seen its question twice.
func (v *httpClient) pollTask(id string) (polled string) {
	v.t.Helper()
	for seen := 0; seen < 2; {
		polled = v.requestJSON(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":` + id + `}}`)
		if jsonMember(v.t, polled, "result", "status") == `"input_required"` {
			seen++
		}
	}
	return polled
}

// nextQuestion returns the next message that is a question.
func nextQuestion(next func() sseEvent) string {
	for {
		if m := next().data; strings.Contains(m, `"elicitation/create"`) {
			return m
		}
	}
}

// Over HTTP, a client that polls its task is asked on the GET stream.
func TestPolledTaskAsksOnGetStream(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	next := v.readEvents(v.sendRequest(http.MethodGet, "", "Accept", "text/event-stream"))
	id, polled := v.createPolledTask()
	if strings.Contains(polled, "/asks/") {
		t.Errorf("the task is %s, want no address: its client is asked", polled)
	}
	question := nextQuestion(next)
	want := `{"jsonrpc":"2.0","id":"RUN.4","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"message":"Which word?\n\nThis question is lost if Beam restarts.","mode":"form",` +
		`"requestedSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}}`
	if got := maskIDs(question); got != want {
		t.Errorf("the task asks\n%s\nwant\n%s", got, want)
	}
	v.postAnswer(question, `{"word":"fish"}`)
	result := v.requestJSON(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":` + id + `}}`)
	if !strings.Contains(result, `"text":"fish"`) {
		t.Errorf("the result is %s", result)
	}
}

// With no stream to be asked on, the question stays in the inbox, and the status says
// where.
func TestPolledTaskWithoutStreamSaysWhereToAnswer(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	id, polled := v.createPolledTask()
	if want := `"waits for an answer: Which word? Answer at http://127.0.0.1:3008/asks/RUN.4"`; maskIDs(jsonMember(t, polled, "result", "statusMessage")) != want {
		t.Errorf("the task is %s, want the status message %s", polled, want)
	}
	r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
	result := v.requestJSON(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":` + id + `}}`)
	if !strings.Contains(result, `"text":"fish"`) {
		t.Errorf("the result is %s", result)
	}
}

// A client whose GET stream breaks off while it is asked is asked again on the next one.
func TestPolledTaskAsksOnNextGetStream(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	ctx, breakOff := context.WithCancel(t.Context())
	first := *v
	first.ctx = ctx
	next := first.readEvents(first.sendRequest(http.MethodGet, "", "Accept", "text/event-stream"))
	id, _ := v.createPolledTask()
	lost := nextQuestion(next)
	breakOff()
	next = v.readEvents(v.sendRequest(http.MethodGet, "", "Accept", "text/event-stream"))
	asked := make(chan string, 1)
	go func() { asked <- nextQuestion(next) }()
	for {
		v.pollTask(id) // the server notices only by and by that the stream broke off
		select {
		case again := <-asked:
			if jsonMember(t, again, "id") == jsonMember(t, lost, "id") {
				t.Errorf("the question is asked again with the id of the first: %s", again)
			}
			v.postAnswer(again, `{"word":"fish"}`)
			result := v.requestJSON(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%s}}`, id))
			if !strings.Contains(result, `"text":"fish"`) {
				t.Errorf("the result is %s", result)
			}
			return
		default:
		}
	}
}
