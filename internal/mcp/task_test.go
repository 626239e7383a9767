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
	"github.com/photon-beam/beam/internal/run"
)

// asTask is a photon that asks for a word after it has told a status.
func asTask(name string, support generators.TaskSupport) *generators.Photon {
	return generators.New(name, func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		yield(generators.Status("looking around"))
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Task: support})
}

// create calls a tool as a task of 2025-11-25, and returns the task's id.
func (w *wire) create(id int, tool string) string {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"task":{"ttl":60000}}}`, id, tool)
	return w.created(w.next())
}

func (w *wire) created(result string) string {
	w.t.Helper()
	id := strings.Trim(member(w.t, result, "result", "task", "taskId"), `"`)
	if id == "" {
		w.t.Fatalf("the call is answered with %s, want a task", result)
	}
	return id
}

// task sends a request about a task.
func (w *wire) task(id int, method, task string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":%q}}`, id, method, task)
}

// status asks for a task's status.
func (w *wire) status(task string) string {
	w.t.Helper()
	w.task(999, "tasks/get", task)
	return strings.Trim(member(w.t, w.response(999), "result", "status"), `"`)
}

// response is the next message that answers a request; what comes before it is
// thrown away.
func (w *wire) response(id int) string {
	w.t.Helper()
	for {
		if m := w.next(); member(w.t, m, "id") == fmt.Sprint(id) && member(w.t, m, "method") == "" {
			return m
		}
	}
}

// A client that knows the specification alone: it polls, opens the result's
// stream when input is required, is asked there, and gets the result.
func TestATaskAsksOnTheStreamOfItsResult(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	v := visit(t, r.site(t).URL, "2025-11-25", `{"elicitation":{}}`)
	created := v.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{"ttl":60000}}}`)
	id := member(t, created, "result", "task", "taskId")
	if got := member(t, created, "result", "task", "status"); got != `"working"` {
		t.Errorf("the task begins %s, want working", got)
	}
	polled := v.ask(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":` + id + `}}`)
	if got := member(t, polled, "result", "status"); got != `"input_required"` {
		t.Errorf("the task is %s, want input_required", got)
	}
	next := v.stream(v.post(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":` + id + `}}`))
	question := next().data
	want := `{"jsonrpc":"2.0","id":"RUN.4","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"message":"Which word?","mode":"form",` +
		`"requestedSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}}`
	if got := anonymous(question); got != want {
		t.Errorf("the task asks\n%s\nwant\n%s", got, want)
	}
	v.answer(question, `{"word":"fish"}`)
	want = `{"jsonrpc":"2.0","id":3,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`
	if got := anonymous(next().data); got != want {
		t.Errorf("the result is\n%s\nwant\n%s", got, want)
	}
	polled = v.ask(`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":` + id + `}}`)
	want = `{"jsonrpc":"2.0","id":4,"result":{"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
	if got := timeless(polled); got != want {
		t.Errorf("in the end the task is\n%s\nwant\n%s", got, want)
	}
	if ttl := member(t, polled, "result", "ttl"); ttl < "60000" || len(ttl) != 5 {
		t.Errorf("the task is kept for %s ms, want its minute at least, counted from its end", ttl)
	}
}

// A client that knows none of it but polling: the question is answered in the
// inbox, and the result is there.
func TestATaskThatItsClientCannotAnswerIsAnsweredElsewhere(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	w := r.stdio(t)
	w.hello("2025-11-25", `{}`)
	task := w.create(1, "word")
	w.task(2, "tasks/result", task)
	if got := w.status(task); got != "input_required" {
		t.Fatalf("the task is %s, want input_required: its question is open in the inbox", got)
	}
	answer := ask.Answer{Action: ask.Accept, Content: []byte(`{"word":"fish"}`)}
	if err := r.engine.Answer(t.Context(), operator, r.engine.Inbox(operator, 0)[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	if got := w.response(2); !strings.Contains(got, `"text":"fish"`) {
		t.Errorf("the result is %s", got)
	}
}

// The request for the result is not the task: it may be given up, and sent again.
func TestATaskOutlivesTheRequestForItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, asTask("word", ""))
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		task := w.create(1, "word")
		w.task(2, "tasks/result", task)
		question := w.next()
		for !strings.Contains(question, "elicitation/create") {
			question = w.next()
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if got := w.next(); !strings.Contains(got, `"method":"notifications/cancelled"`) {
			t.Errorf("the question is taken back with %s", got)
		}
		if got := w.status(task); got != "input_required" {
			t.Fatalf("the task is %s after its result was not wanted any more, want input_required", got)
		}
		w.task(3, "tasks/result", task)
		question = w.next()
		w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, member(t, question, "id"))
		if got := w.response(3); !strings.Contains(got, `"text":"fish"`) {
			t.Errorf("the result is %s", got)
		}
		w.end()
	})
}

func TestATaskIsCancelledOnce(t *testing.T) {
	done := make(chan error, 1)
	w := newRig(t, stubborn(done)).stdio(t)
	w.hello("2025-11-25", `{}`)
	task := w.create(1, "stubborn")
	w.task(2, "tasks/cancel", task)
	want := `{"jsonrpc":"2.0","id":2,"result":{"taskId":"RUN","status":"cancelled","statusMessage":"stopped","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
	if got := timeless(w.response(2)); got != want {
		t.Errorf("cancelling is answered with\n%s\nwant\n%s", got, want)
	}
	mustEnd(t, done, ask.ErrStopped)
	w.task(3, "tasks/cancel", task)
	if got := w.response(3); member(t, got, "error", "code") != "-32602" || !strings.Contains(got, "cancelled already") {
		t.Errorf("cancelling again is answered with %s", got)
	}
	w.task(4, "tasks/result", task)
	if got := w.response(4); member(t, got, "result", "isError") != "true" || !strings.Contains(got, "related-task") {
		t.Errorf("the result of a cancelled task is %s", got)
	}
}

// A result with isError is a task that failed.
func TestATaskFailsWithItsTool(t *testing.T) {
	failing := generators.New("failing", func(context.Context, nothing, generators.Yield) (string, error) {
		return "", errors.New("the disk is on fire")
	}, nil)
	w := newRig(t, failing).stdio(t)
	w.hello("2025-11-25", `{}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"failing","task":{}}}`)
	created := w.next()
	if got := member(t, created, "result", "status") + member(t, created, "result", "task", "status"); got != `"failed""working"` {
		t.Errorf("a task that has failed at once begins %s", got)
	}
	task := w.created(created)
	w.task(2, "tasks/get", task)
	if got := w.next(); member(t, got, "result", "status") != `"failed"` || member(t, got, "result", "statusMessage") != `"the disk is on fire"` {
		t.Errorf("the task is %s", got)
	}
	w.task(3, "tasks/result", task)
	if got := w.next(); member(t, got, "result", "isError") != "true" || !strings.Contains(got, `"text":"the disk is on fire"`) {
		t.Errorf("its result is %s", got)
	}
}

func TestWhoMayCallWhatAsATask(t *testing.T) {
	r := newRig(t, asTask("optional", ""), asTask("preferred", generators.TaskPreferred), asTask("required", generators.TaskRequired), asTask("forbidden", generators.TaskForbidden))
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
		w := r.stdio(t)
		w.hello(c.version, `{}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q%s}}`, c.tool, c.task)
		got := w.next()
		if c.code == "" && !strings.Contains(got, `"task":{`) || c.code != "" && !strings.Contains(got, `"error":{"code":`+c.code) {
			t.Errorf("in %s, %s with %s is answered with %s, want %s", c.version, c.tool, c.task, got, c.code)
		}
	}
	// Before there were tasks, the parameter is one that is not known.
	w := r.stdio(t)
	w.hello("2025-06-18", `{"elicitation":{}}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"preferred","task":{}}}`)
	for got := w.next(); !strings.Contains(got, "elicitation/create"); got = w.next() {
		if strings.Contains(got, "taskId") {
			t.Fatalf("in 2025-06-18 a call is answered with %s", got)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list", "tasks/update"} {
		w.task(7, method, "x")
		if got := w.response(7); member(t, got, "error", "code") != "-32601" {
			t.Errorf("in 2025-06-18, %s is answered with %s", method, got)
		}
	}
}

// Another's task is not there, and what is no task is none.
func TestATaskIsItsOwnersAlone(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	theirs, err := r.engine.Start(t.Context(), run.Caller{"bearer:x"}, run.Request{Photon: "word", Surface: "mcp task"})
	if err != nil {
		t.Fatal(err)
	}
	noTask, err := r.engine.Start(t.Context(), operator, run.Request{Photon: "word", Surface: "browser"})
	if err != nil {
		t.Fatal(err)
	}
	w := r.stdio(t)
	w.hello("2025-11-25", `{}`)
	var first string
	for name, id := range map[string]string{"theirs": theirs.ID, "no task": noTask.ID, "unknown": strings.Repeat("0", 32), "odd": "../x"} {
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			w.task(1, method, id)
			got := w.next()
			if first == "" {
				first = got
			}
			if got != first || member(t, got, "error", "code") != "-32602" {
				t.Errorf("%s of one that is %s is answered with %s", method, name, got)
			}
		}
	}
	for _, params := range []string{`{}`, `{"taskId":7}`, `{"taskId":""}`, `{"taskId":null}`} {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":%s}`, params)
		if got := w.next(); member(t, got, "error", "code") != "-32602" || !strings.Contains(got, "taskId") {
			t.Errorf("tasks/get with %s is answered with %s", params, got)
		}
	}
}

// A task that takes long is answered for at once, as soon as it is clear that it
// does not ask.
func TestATaskThatWorksIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := generators.New("slow", func(ctx context.Context, _ nothing, yield generators.Yield) (string, error) {
			yield(generators.Status("digging"))
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return "gold", ctx.Err()
		}, nil)
		r := newRig(t, slow)
		w := r.stdio(t)
		w.hello("2025-11-25", `{}`)
		begun := time.Now()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}`)
		created := w.next()
		if took := time.Since(begun); took > 250*time.Millisecond {
			t.Errorf("the task is there after %s", took)
		}
		if got := member(t, created, "result", "_meta", "io.modelcontextprotocol/model-immediate-response"); got != `"digging"` {
			t.Errorf("meanwhile the model is told %s", got)
		}
		task := w.created(created)
		w.task(2, "tasks/result", task)
		time.Sleep(59 * time.Minute)
		if got := w.status(task); got != "working" {
			t.Errorf("the task is %s, want working", got)
		}
		if got := w.response(2); !strings.Contains(got, "gold") {
			t.Errorf("the result is %s", got)
		}
		w.end()
	})
}

// A stream that breaks off is resumed, with the question that was open; so is
// nothing lost of a result that is waited for.
func TestTheStreamOfAResultIsResumed(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	v := visit(t, r.site(t).URL, "2025-11-25", `{"elicitation":{}}`)
	created := v.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	id := strings.Trim(member(t, created, "result", "taskId"), `"`)
	ctx, breakOff := context.WithCancel(t.Context())
	v.ctx = ctx
	first := v.stream(v.post(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + id + `"}}`))()
	breakOff()
	v.ctx = t.Context()
	call, _, _ := strings.Cut(first.id, ".")
	next := v.stream(v.do("GET", "", "Last-Event-ID", call+".0"))
	again := next().data
	if again != first.data {
		t.Errorf("the stream is resumed with\n%s\nwant\n%s", again, first.data)
	}
	v.answer(again, `{"word":"fish"}`)
	if got := next().data; !strings.Contains(got, `"id":2,"result":`) || !strings.Contains(got, `"text":"fish"`) {
		t.Errorf("the result is %s", got)
	}
}
