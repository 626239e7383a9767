package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// collectTaskStatuses collects the params of a notification until its status is last.
func (w *stdioClient) collectTaskStatuses(method, last string) (statuses []string) {
	w.t.Helper()
	for {
		m := w.nextLine()
		if !strings.Contains(m, `"method":"`+method+`"`) {
			continue
		}
		statuses = append(statuses, strings.Trim(jsonMember(w.t, m, "params", "status"), `"`))
		if statuses[len(statuses)-1] == last {
			return statuses
		}
	}
}

// Over stdio, a client is sent each status that it does not know.
func TestTaskStatusNotifications(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "word")
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/elicitation-response":{"elicitationId":"%s.4","action":"accept","content":{"word":"fish"}}}}}`, task, task)
	for {
		m := w.nextLine()
		if !strings.Contains(m, `"status":"completed"`) || jsonMember(t, m, "id") == "2" {
			continue
		}
		want := `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
		if got := maskTimes(m); got != want {
			t.Errorf("the client got\n%s\nwant\n%s", got, want)
		}
		return
	}
}

// Over HTTP, statuses come on the GET stream.
func TestTaskStatusNotificationsOverHTTP(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{}`)
	next := v.readEvents(v.sendRequest(http.MethodGet, "", "Accept", "text/event-stream"))
	created := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	id := jsonMember(t, created, "result", "taskId")
	v.requestJSON(`{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"taskId":` + id + `}}`)
	if got := next().data; !strings.Contains(got, `"method":"notifications/tasks/status"`) || !strings.Contains(got, `"status":"cancelled"`) {
		t.Errorf("the stream has %s", got)
	}
}

// A subscription sends its tasks' current states and then their changes, with
// everything that tasks/get returns. It leaves out other callers' tasks.
func TestSubscriptionSendsTasks(t *testing.T) {
	r := newTestServer(t, taskPhoton("word", generators.TaskPreferred))
	w := r.connectStdio(t)
	task := w.callExtensionTask(1, "word")
	w.pollUntil(task, "input_required")
	id := strings.TrimPrefix(task, `"taskId":`)
	w.sendLine(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s,%s,"unknown"]},%s}}`, id, id, modernMeta(tasksCapabilities, ""))
	if got := jsonMember(t, w.nextLine(), "params", "notifications"); got != `{"taskIds":[`+id+`]}` {
		t.Errorf("the subscription takes on %s, want the one task", got)
	}
	told := w.nextLine()
	want := `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"taskId":"RUN","status":"input_required",`
	if got := maskIDs(told); !strings.HasPrefix(got, want) || !strings.Contains(got, `"inputRequests":{"word":{"method":"elicitation/create"`) {
		t.Errorf("the subscription tells\n%s\nwant\n%s…", got, want)
	}
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tasks/update","params":{%s,"inputResponses":{"word":{"action":"accept","content":{"word":"fish"}}},%s}}`, task, modernMeta(tasksCapabilities, ""))
	for {
		m := w.nextLine()
		if strings.Contains(m, `"status":"completed"`) {
			if !strings.Contains(m, `"result":{"resultType":"complete","content":[{"type":"text","text":"fish"}]`) {
				t.Errorf("the end is told as %s", m)
			}
			return
		}
		if strings.Contains(m, "notifications/progress") || strings.Contains(m, "notifications/message") {
			t.Errorf("a task tells %s", m)
		}
	}
}

// A subscription also sends a task that ended before it began.
func TestSubscriptionSendsEndedTask(t *testing.T) {
	quick := generators.New("quick", func(context.Context, none, generators.Yield) (string, error) { return "done", nil },
		&generators.Options{Task: generators.TaskPreferred})
	w := newTestServer(t, quick).connectStdio(t)
	task := w.callExtensionTask(1, "quick")
	w.pollUntil(task, "completed")
	w.sendLine(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s]},%s}}`, strings.TrimPrefix(task, `"taskId":`), modernMeta(tasksCapabilities, ""))
	if got := w.collectTaskStatuses("notifications/tasks", "completed"); len(got) != 1 {
		t.Errorf("the subscription tells %v, want the end", got)
	}
}

// However often some watchers come and go, those that stay receive everything.
func TestTaskHasManyWatchers(t *testing.T) {
	steps := make(chan struct{})
	stepper := generators.New("stepper", func(ctx context.Context, _ none, yield generators.Yield) (string, error) {
		for i := range 5 {
			if _, err := ask.Text(yield, fmt.Sprintf("word%d", i), "Which word?"); err != nil {
				return "", err
			}
			select {
			case <-steps:
			case <-ctx.Done():
			}
		}
		return "done", nil
	}, &generators.Options{Task: generators.TaskPreferred})
	r := newTestServer(t, stepper)
	w := r.connectStdio(t)
	task := w.callExtensionTask(1, "stepper")
	listen := fmt.Sprintf(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s]},%s}}`, strings.TrimPrefix(task, `"taskId":`), modernMeta(tasksCapabilities, ""))
	stays, goes := r.connectStdio(t), r.connectStdio(t)
	stays.sendLine("%s", listen)
	stays.nextLine()                                                   // the subscription is acknowledged
	stays.collectTaskStatuses("notifications/tasks", "input_required") // it has begun
	heard := make(chan []string, 1)
	go func() { heard <- stays.collectTaskStatuses("notifications/tasks", "completed") }()
	for range 20 {
		goes.sendLine("%s", listen)
		goes.nextLine()
		goes.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
		goes.requestModern(7, "tasks/get", task, tasksCapabilities) // its subscription has ended by now
	}
	for i := range 5 {
		w.pollUntil(task, "input_required")
		w.requestModern(2, "tasks/update", fmt.Sprintf(`%s,"inputResponses":{"word%d":{"action":"accept","content":{"word%d":"x"}}}`, task, i, i), tasksCapabilities)
		steps <- struct{}{}
	}
	select {
	case <-heard:
	case <-time.After(programtest.WaitTimeout):
		t.Fatal("who stayed did not hear the end")
	}
}
