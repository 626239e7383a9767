package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A client that only polls gets the result after someone has answered in the inbox.
func TestTaskIsAnsweredElsewhere(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "word")
	w.sendTaskRequest(2, "tasks/result", task)
	if got := w.taskStatus(task); got != "input_required" {
		t.Fatalf("the task is %s, want input_required: its question is open in the inbox", got)
	}
	answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"word":"fish"}`)}
	if err := r.engine.Answer(t.Context(), operator, must(r.engine.Inbox(operator, 0))[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	if got := w.awaitResponse(2); !strings.Contains(got, `"text":"fish"`) {
		t.Errorf("the result is %s", got)
	}
}

func TestTaskIsCancelledOnce(t *testing.T) {
	done := make(chan error, 1)
	w := newTaskServer(t, stubbornPhoton(done)).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "stubborn")
	w.sendTaskRequest(2, "tasks/cancel", task)
	want := `{"jsonrpc":"2.0","id":2,"result":{"taskId":"RUN","status":"cancelled","statusMessage":"The client stopped the run over MCP. Don't call the tool again unless the user wants to.","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
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

// A task whose run sleeps is working, and says until when.
func TestSleepingTaskIsWorking(t *testing.T) {
	until := time.Date(2999, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newTaskServer(t, generators.New("sleeper", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Status("tired"))
		return "", generators.SleepUntil(yield, "long", until)
	}, &generators.Options{Durable: true, Task: generators.TaskPreferred}))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "sleeper")
	r.awaitEntry(t, task, runlog.KindSleeping)
	w.sendTaskRequest(2, "tasks/get", task)
	got := w.awaitResponse(2)
	if jsonMember(t, got, "result", "status") != `"working"` || jsonMember(t, got, "result", "statusMessage") != `"Sleeps until 2999-01-02 03:04:05 UTC"` {
		t.Errorf("the task is %s", got)
	}
}

// A task whose run waits for another one is working, and says for what it waits.
func TestQueuedTaskIsWorking(t *testing.T) {
	r := newTaskServer(t, generators.New("deploy", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Exclusive: func(none) string { return "prod" }}))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.createTask(1, "deploy")
	task := w.createTask(2, "deploy")
	w.sendTaskRequest(3, "tasks/get", task)
	got := w.awaitResponse(3)
	if jsonMember(t, got, "result", "status") != `"working"` || jsonMember(t, got, "result", "statusMessage") != `"Waits for another run with the key \"prod\""` {
		t.Errorf("the task is %s", got)
	}
}

// awaitEntry waits until a run has an entry of a kind.
func (r *testServer) awaitEntry(t *testing.T, run string, kind runlog.Kind) {
	t.Helper()
	batches, err := r.engine.Follow(t.Context(), operator, run, 0)
	if err != nil {
		t.Fatal(err)
	}
	for batch := range batches {
		for _, e := range batch {
			if e.Kind == kind {
				return
			}
		}
	}
	t.Fatalf("the run ended without an entry of the kind %s", kind)
}

// A task whose result has isError is failed.
func TestTaskFailsWithTool(t *testing.T) {
	failing := generators.New("failing", func(context.Context, none, generators.Yield) (string, error) {
		return "", errors.New("the disk is on fire")
	}, nil)
	w := newTaskServer(t, failing).connectStdio(t)
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
	r := newTaskServer(t, taskPhoton("optional", ""), taskPhoton("preferred", generators.TaskPreferred), taskPhoton("required", generators.TaskRequired), taskPhoton("forbidden", generators.TaskForbidden))
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
	theirs, err := r.engine.Start(t.Context(), generators.Caller{ID: "bearer:x"}, engine.StartRequest{Photon: "word", Surface: "mcp task"})
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
