package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
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
	return w.createdTaskID(w.nextLine())
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

// A client that knows only the specification polls, requests the result when input is
// required, is asked on the result's stream, and gets the result.
func TestTaskAsksOnResultStream(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", ""))
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
	want := `{"jsonrpc":"2.0","id":"RUN.4","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"message":"Which word?","mode":"form",` +
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

// A client that only polls gets the result after someone has answered in the inbox.
func TestTaskIsAnsweredElsewhere(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", ""))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "word")
	w.sendTaskRequest(2, "tasks/result", task)
	if got := w.taskStatus(task); got != "input_required" {
		t.Fatalf("the task is %s, want input_required: its question is open in the inbox", got)
	}
	answer := ask.Answer{Action: ask.Accept, Content: []byte(`{"word":"fish"}`)}
	if err := r.engine.Answer(t.Context(), operator, r.engine.Inbox(operator, 0)[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	if got := w.awaitResponse(2); !strings.Contains(got, `"text":"fish"`) {
		t.Errorf("the result is %s", got)
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

func TestTaskIsCancelledOnce(t *testing.T) {
	done := make(chan error, 1)
	w := newTestServer(t, stubbornPhoton(done)).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "stubborn")
	w.sendTaskRequest(2, "tasks/cancel", task)
	want := `{"jsonrpc":"2.0","id":2,"result":{"taskId":"RUN","status":"cancelled","statusMessage":"stopped","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
	if got := maskTimes(w.awaitResponse(2)); got != want {
		t.Errorf("cancelling gets the response\n%s\nwant\n%s", got, want)
	}
	expectGeneratorError(t, done, ask.ErrStopped)
	w.sendTaskRequest(3, "tasks/cancel", task)
	if got := w.awaitResponse(3); jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, "already cancelled") {
		t.Errorf("cancelling again gets the response %s", got)
	}
	w.sendTaskRequest(4, "tasks/result", task)
	if got := w.awaitResponse(4); jsonMember(t, got, "result", "isError") != "true" || !strings.Contains(got, "related-task") {
		t.Errorf("the result of a cancelled task is %s", got)
	}
}

// A task whose result has isError is failed.
func TestTaskFailsWithTool(t *testing.T) {
	failing := generators.New("failing", func(context.Context, none, generators.Yield) (string, error) {
		return "", errors.New("the disk is on fire")
	}, nil)
	w := newTestServer(t, failing).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"failing","task":{}}}`)
	created := w.nextLine()
	if got := jsonMember(t, created, "result", "status") + jsonMember(t, created, "result", "task", "status"); got != `"failed""working"` {
		t.Errorf("a task that has failed at once begins %s", got)
	}
	task := w.createdTaskID(created)
	w.sendTaskRequest(2, "tasks/get", task)
	if got := w.nextLine(); jsonMember(t, got, "result", "status") != `"failed"` || jsonMember(t, got, "result", "statusMessage") != `"the disk is on fire"` {
		t.Errorf("the task is %s", got)
	}
	w.sendTaskRequest(3, "tasks/result", task)
	if got := w.nextLine(); jsonMember(t, got, "result", "isError") != "true" || !strings.Contains(got, `"text":"the disk is on fire"`) {
		t.Errorf("its result is %s", got)
	}
}

func TestTaskSupportNegotiation(t *testing.T) {
	r := newTestServer(t, taskPhoton("optional", ""), taskPhoton("preferred", generators.TaskPreferred), taskPhoton("required", generators.TaskRequired), taskPhoton("forbidden", generators.TaskForbidden))
	for _, c := range []struct{ version, tool, task, code string }{
		{"2025-11-25", "required", "", "-32601"},
		{"2025-11-25", "required", `,"task":null`, "-32601"},
		{"2025-11-25", "forbidden", `,"task":{}`, "-32601"},
		{"2025-11-25", "required", `,"task":{}`, ""},
		{"2025-11-25", "preferred", `,"task":{}`, ""},
		{"2025-11-25", "optional", `,"task":{"ttl":1e300}`, ""},
		{"2025-11-25", "optional", `,"task":{"ttl":0,"pollInterval":7}`, ""},
		{"2025-11-25", "optional", `,"task":{"ttl":-1}`, "-32602"},
		{"2025-11-25", "optional", `,"task":{"ttl":"long"}`, "-32602"},
		{"2025-11-25", "optional", `,"task":true`, "-32602"},
		{"2025-11-25", "optional", `,"arguments":{"x":1},"task":{}`, "-32602"},
		{"2025-06-18", "required", `,"task":{}`, "-32601"},
	} {
		w := r.connectStdio(t)
		w.initialize(c.version, `{}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q%s}}`, c.tool, c.task)
		got := w.nextLine()
		if c.code == "" && !strings.Contains(got, `"task":{`) || c.code != "" && !strings.Contains(got, `"error":{"code":`+c.code) {
			t.Errorf("in %s, %s with %s gets the response %s, want %s", c.version, c.tool, c.task, got, c.code)
		}
	}
	// Versions without tasks ignore the parameter.
	w := r.connectStdio(t)
	w.initialize("2025-06-18", `{"elicitation":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"preferred","task":{}}}`)
	for got := w.nextLine(); !strings.Contains(got, "elicitation/create"); got = w.nextLine() {
		if strings.Contains(got, "taskId") {
			t.Fatalf("in 2025-06-18 a call gets the response %s", got)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list", "tasks/update"} {
		w.sendTaskRequest(7, method, "x")
		if got := w.awaitResponse(7); jsonMember(t, got, "error", "code") != "-32601" {
			t.Errorf("in 2025-06-18, %s gets the response %s", method, got)
		}
	}
}

// Another owner's task, and a run that is not a task, do not exist for the caller.
func TestTaskBelongsToOwner(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", ""))
	theirs, err := r.engine.Start(t.Context(), engine.Caller{"bearer:x"}, engine.StartRequest{Photon: "word", Surface: "mcp task"})
	if err != nil {
		t.Fatal(err)
	}
	noTask, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "word", Surface: "browser"})
	if err != nil {
		t.Fatal(err)
	}
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	var first string
	for name, id := range map[string]string{"theirs": theirs.ID, "no task": noTask.ID, "unknown": strings.Repeat("0", 32), "odd": "../x"} {
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			w.sendTaskRequest(1, method, id)
			got := w.nextLine()
			if first == "" {
				first = got
			}
			if got != first || jsonMember(t, got, "error", "code") != "-32602" {
				t.Errorf("%s of one that is %s gets the response %s", method, name, got)
			}
		}
	}
	for _, params := range []string{`{}`, `{"taskId":7}`, `{"taskId":""}`, `{"taskId":null}`} {
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":%s}`, params)
		if got := w.nextLine(); jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, "taskId") {
			t.Errorf("tasks/get with %s gets the response %s", params, got)
		}
	}
}

// The reply that creates a task which works long comes as soon as it is clear that the
// task does not ask at once.
func TestWorkingTaskIsCreatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := generators.New("slow", func(ctx context.Context, _ none, yield generators.Yield) (string, error) {
			yield(generators.Status("digging"))
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return "gold", ctx.Err()
		}, nil)
		r := newTestServer(t, slow)
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		begun := time.Now()
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}`)
		created := w.nextLine()
		if took := time.Since(begun); took > 250*time.Millisecond {
			t.Errorf("the task is there after %s", took)
		}
		if got := jsonMember(t, created, "result", "_meta", "io.modelcontextprotocol/model-immediate-response"); got != `"digging"` {
			t.Errorf("meanwhile the model is told %s", got)
		}
		task := w.createdTaskID(created)
		w.sendTaskRequest(2, "tasks/result", task)
		time.Sleep(59 * time.Minute)
		if got := w.taskStatus(task); got != "working" {
			t.Errorf("the task is %s, want working", got)
		}
		if got := w.awaitResponse(2); !strings.Contains(got, "gold") {
			t.Errorf("the result is %s", got)
		}
		w.closeAndWait()
	})
}

// A stream of tasks/result that breaks off is resumed, with the question that was open,
// and loses nothing.
func TestTaskResultStreamIsResumed(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", ""))
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
