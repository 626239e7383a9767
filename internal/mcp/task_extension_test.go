package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// The photon decides that its call is a task. The client gets the task in place of a
// result, polls it, answers with tasks/update, and gets the result with the task.
func TestExtensionTaskIsPolledAnsweredAndRead(t *testing.T) {
	asks := make(chan none)
	word := generators.New("word", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Status("looking around"))
		<-asks
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Task: generators.TaskPreferred})
	w := newTestServer(t, word).connectStdio(t)
	created := w.requestModern(1, "tools/call", `"name":"word","task":{"ttl":7}`, tasksCapabilities)
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task",` + serverMeta + `,"taskId":"RUN","status":"working",`
	if got := maskIDs(created); !strings.HasPrefix(got, want) || !strings.Contains(got, `"ttlMs":null,"pollIntervalMs":`) || strings.Contains(got, `"task":`) {
		t.Errorf("the call gets the response\n%s\nwant\n%s…", got, want)
	}
	close(asks)
	task := `"taskId":` + jsonMember(t, created, "result", "taskId")
	asked := w.pollUntil(task, "input_required")
	want = `{"jsonrpc":"2.0","id":998,"result":{"resultType":"complete",` + serverMeta + `,"taskId":"RUN","status":"input_required","statusMessage":"waits for an answer: Which word?","createdAt":"TIME","lastUpdatedAt":"TIME","ttlMs":null,"pollIntervalMs":2000,` +
		`"inputRequests":{"word":{"method":"elicitation/create","params":{"mode":"form","message":"Which word?\n\nThis question is lost if Beam restarts.","requestedSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}}}}}`
	if got := maskTimes(asked); got != want {
		t.Errorf("the task asks\n%s\nwant\n%s", got, want)
	}
	acked := w.requestModern(2, "tasks/update", task+`,"inputResponses":{"word":{"action":"accept","content":{"word":"fish"}},"nobody asked":7}`, tasksCapabilities)
	if want := `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete",` + serverMeta + `}}`; acked != want {
		t.Errorf("answering gets the response\n%s\nwant\n%s", acked, want)
	}
	done := w.pollUntil(task, "completed")
	want = `{"jsonrpc":"2.0","id":998,"result":{"resultType":"complete",` + serverMeta + `,"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttlMs":N,` +
		`"result":{"resultType":"complete","content":[{"type":"text","text":"fish"}],"structuredContent":"fish"}}}`
	if got := maskTimes(done); got != want {
		t.Errorf("in the end the task is\n%s\nwant\n%s", got, want)
	}
	// A late answer is ignored.
	if got := w.requestModern(3, "tasks/update", task+`,"inputResponses":{"word":{"action":"decline"}}`, tasksCapabilities); got != strings.Replace(acked, `"id":2`, `"id":3`, 1) {
		t.Errorf("a late answer gets the response %s", got)
	}
}

func TestExtensionTaskNeedsClientSupport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, taskPhoton("optional", ""), taskPhoton("preferred", generators.TaskPreferred), taskPhoton("required", generators.TaskRequired))
		w := r.connectStdio(t)
		for tool, want := range map[string]string{"optional": "input_required", "preferred": "input_required"} {
			if got := w.requestModern(1, "tools/call", `"name":"`+tool+`","task":{}`, `{"elicitation":{}}`); !strings.Contains(got, `"resultType":"`+want) {
				t.Errorf("%s without the extension gets the response %s", tool, got)
			}
		}
		if got := w.requestModern(1, "tools/call", `"name":"optional","task":{}`, tasksCapabilities); !strings.Contains(got, `"resultType":"input_required"`) {
			t.Errorf("a photon that has no say is made a task: %s", got)
		}
		task := w.callExtensionTask(1, "preferred")
		missing := []string{
			w.requestModern(2, "tools/call", `"name":"required"`, `{}`),
			w.requestModern(2, "tasks/get", task, `{}`),
			w.requestModern(2, "tasks/update", task+`,"inputResponses":{}`, `{}`),
			w.requestModern(2, "tasks/cancel", task, `{}`),
			w.requestModern(2, "subscriptions/listen", `"notifications":{"taskIds":[]}`, `{}`),
		}
		for _, got := range missing {
			if want := `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`; jsonMember(t, got, "error", "code") != "-32021" || jsonMember(t, got, "error", "data", "requiredCapabilities") != want {
				t.Errorf("without the extension a request gets the response %s", got)
			}
		}
		for _, method := range []string{"tasks/result", "tasks/list", "tasks/else"} {
			if got := w.requestModern(3, method, task, tasksCapabilities); jsonMember(t, got, "error", "code") != "-32601" {
				t.Errorf("%s gets the response %s", method, got)
			}
		}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			for _, id := range []string{`"taskId":"` + strings.Repeat("0", 32) + `"`, `"taskId":7`, `"x":1`} {
				if got := w.requestModern(4, method, id+`,"inputResponses":{}`, tasksCapabilities); jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, "taskId") {
					t.Errorf("%s with %s gets the response %s", method, id, got)
				}
			}
		}
		w.closeAndWait()
	})
}

// If some answers are invalid, all are refused with the reasons and may be sent again.
// A client may answer some questions before others.
func TestInvalidResponsesToExtensionTaskAreRefused(t *testing.T) {
	pair := generators.New("pair", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		var name, size string
		err := ask.All(yield, ask.ForText("name", "Who?", ask.Length(3, 9)).Into(&name), ask.ForText("size", "What size?").Into(&size))
		return name + " " + size, err
	}, &generators.Options{Task: generators.TaskPreferred})
	w := newTestServer(t, pair).connectStdio(t)
	task := w.callExtensionTask(1, "pair")
	for asked := ""; strings.Count(asked, `"method":"elicitation/create"`) < 2; {
		asked = w.pollUntil(task, "input_required")
	}
	update := func(responses string) string {
		return w.requestModern(2, "tasks/update", task+`,"inputResponses":`+responses, tasksCapabilities)
	}
	for responses, want := range map[string]string{
		`null`: "inputResponses must be an object",
		`[]`:   "inputResponses",
		`{"name":{"action":"accept","content":{"name":"x"}},"size":{"action":"accept","content":{"size":"s"}}}`: "inputResponses[name]: /name must be",
		`{"name":7}`:                               "inputResponses[name]: /action",
		`{"name":{"action":"agree"}}`:              "inputResponses[name]: /action must be accept, decline or cancel",
		`{"size":{"action":"accept"},"name":null}`: "inputResponses[size]",
	} {
		if got := update(responses); jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, want) {
			t.Errorf("%s gets the response %s, want it to contain %s", responses, got, want)
		}
	}
	if got := w.pollUntil(task, "input_required"); strings.Count(got, `"method":"elicitation/create"`) != 2 {
		t.Errorf("after answers that do not fit the task asks %s, want both questions", got)
	}
	update(`{"size":{"action":"accept","content":{"size":"s"}}}`)
	if got := w.pollUntil(task, "input_required"); strings.Contains(got, `"size":{"method"`) || !strings.Contains(got, `"name":{"method"`) {
		t.Errorf("after one of two answers the task asks %s, want the other", got)
	}
	update(`{"name":{"action":"accept","content":{"name":"Ada"}}}`)
	if got := w.pollUntil(task, "completed"); !strings.Contains(got, "Ada s") {
		t.Errorf("the task is %s", got)
	}
}

// A task does not fail because its tool failed, but because of a protocol error.
func TestExtensionTaskOutcomes(t *testing.T) {
	opts := &generators.Options{Task: generators.TaskRequired}
	failing := generators.New("failing", func(context.Context, none, generators.Yield) (string, error) {
		return "", fmt.Errorf("the disk is on fire")
	}, opts)
	folders := generators.New("folders", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		_, err := ask.Roots(yield, "folders")
		return "", err
	}, opts)
	w := newTestServer(t, failing, folders, taskPhoton("word", generators.TaskRequired)).connectStdio(t)
	got := w.pollUntil(w.callExtensionTask(1, "failing"), "completed")
	if jsonMember(t, got, "result", "result", "isError") != "true" || !strings.Contains(got, "the disk is on fire") || strings.Contains(got, "related-task") {
		t.Errorf("a tool that fails makes the task %s", got)
	}
	got = w.pollUntil(w.callExtensionTask(2, "folders"), "failed")
	if jsonMember(t, got, "result", "error", "code") != "-32021" || strings.Contains(got, `"result":{"content"`) {
		t.Errorf("what the client lacks makes the task %s", got)
	}
	task := w.callExtensionTask(3, "word")
	for range 2 { // cancelling a task that has ended is not an error
		if got := w.requestModern(4, "tasks/cancel", task, tasksCapabilities); got != `{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete",`+serverMeta+`}}` {
			t.Errorf("cancelling gets the response %s", got)
		}
	}
	if got := w.pollUntil(task, "cancelled"); strings.Contains(got, `"content"`) {
		t.Errorf("a cancelled task is %s", got)
	}
}

// A client that can't be asked sees a working task until someone answers in the inbox.
// The status message has the question.
func TestExtensionTaskWaitsForAnswerElsewhere(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", generators.TaskRequired))
	w := r.connectStdio(t)
	caps := `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	task := `"taskId":` + jsonMember(t, w.requestModern(1, "tools/call", `"name":"word"`, caps), "result", "taskId")
	for len(must(r.engine.Inbox(operator, 0))) == 0 {
		w.requestModern(2, "tasks/get", task, caps)
	}
	got := w.requestModern(3, "tasks/get", task, caps)
	if jsonMember(t, got, "result", "status") != `"working"` || !strings.Contains(got, "/asks/") {
		t.Errorf("the task is %s, want it to contain where it is answered", got)
	}
	w.requestModern(4, "tasks/update", task+`,"inputResponses":{"word":{"action":"accept","content":{"word":"mine"}}}`, caps)
	answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"word":"fish"}`)}
	if err := r.engine.Answer(t.Context(), operator, must(r.engine.Inbox(operator, 0))[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	if got := w.pollUntil(task, "completed"); !strings.Contains(got, "fish") {
		t.Errorf("the task is %s", got)
	}
}

// The call asks the first questions and then becomes a task.
func TestCallBecomesTaskAfterAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		after := generators.New("after", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
			name, err := ask.Text(yield, "name", "Who?")
			if err == nil {
				<-gate
			}
			return "done for " + name, err
		}, &generators.Options{Task: generators.TaskAfterAsking})
		working := generators.New("working", func(context.Context, none, generators.Yield) (string, error) {
			<-gate
			return "worked", nil
		}, &generators.Options{Task: generators.TaskAfterAsking})
		w := newTestServer(t, after, working).connectStdio(t)
		first := w.requestModern(1, "tools/call", `"name":"after"`, tasksCapabilities)
		if !strings.Contains(first, `"resultType":"input_required"`) || strings.Contains(first, "taskId") {
			t.Fatalf("the call gets the response %s, want its question", first)
		}
		retry := func(id int, answer string) string {
			return w.requestModern(id, "tools/call", `"name":"after","requestState":`+jsonMember(t, first, "result", "requestState")+`,"inputResponses":{"name":`+answer+`}`, tasksCapabilities)
		}
		if got := retry(2, `{"action":"accept","content":{"name":7}}`); !strings.Contains(got, `"resultType":"input_required"`) {
			t.Errorf("an invalid answer gets the response %s", got)
		}
		second := retry(3, `{"action":"accept","content":{"name":"Ada"}}`)
		if jsonMember(t, second, "result", "resultType") != `"task"` || strings.Contains(second, "requestState") {
			t.Fatalf("answering gets the response %s, want a task", second)
		}
		if again := retry(4, `{"action":"decline"}`); jsonMember(t, again, "result", "taskId") != jsonMember(t, second, "result", "taskId") {
			t.Errorf("the lost response gets the response %s, want the same task", again)
		}
		other := w.requestModern(5, "tools/call", `"name":"working"`, tasksCapabilities)
		if jsonMember(t, other, "result", "resultType") != `"task"` {
			t.Errorf("a call that asks nothing gets the response %s, want a task", other)
		}
		close(gate)
		if got := w.pollUntil(`"taskId":`+jsonMember(t, second, "result", "taskId"), "completed"); !strings.Contains(got, "done for Ada") {
			t.Errorf("the task is %s", got)
		}
		w.closeAndWait()
	})
}

// To resume a run is to wait for it, whatever its photon prefers.
func TestResumedCallIsNoTask(t *testing.T) {
	for _, support := range []generators.TaskSupport{generators.TaskPreferred, generators.TaskAfterAsking} {
		synctest.Test(t, func(t *testing.T) {
			w := newLinkingServer(t, taskPhoton("word", support)).connectStdio(t)
			w.initialize("2025-11-25", `{}`)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
			run := resumeHandle(t, w.awaitResponse(1))
			w.callResumeTool(2, run, `,"task":{}`)
			if got := w.awaitResponse(2); jsonMember(t, got, "error", "code") != "-32601" || !strings.Contains(got, "beam_resume can't be a task") {
				t.Errorf("to resume it as a task gets the response %s", got)
			}
			got := w.requestModern(3, "tools/call", `"name":"beam_resume","arguments":{"run":"`+run+`"}`, tasksCapabilities)
			if jsonMember(t, got, "result", "resultType") != `"input_required"` {
				t.Errorf("to resume it gets the response %s, want its question", got)
			}
			w.closeAndWait()
		})
	}
}
