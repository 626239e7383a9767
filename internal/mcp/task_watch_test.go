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
)

// notifications collects the params of a notification until its status is last.
func (w *wire) notifications(method, last string) (statuses []string) {
	w.t.Helper()
	for {
		m := w.next()
		if !strings.Contains(m, `"method":"`+method+`"`) {
			continue
		}
		statuses = append(statuses, strings.Trim(member(w.t, m, "params", "status"), `"`))
		if statuses[len(statuses)-1] == last {
			return statuses
		}
	}
}

// Over stdio a client is told each status that it has not been told.
func TestStatusesOfATaskAreTold(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	w := r.stdio(t)
	w.hello("2025-11-25", `{}`)
	task := w.create(1, "word")
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/elicitation-response":{"elicitationId":"%s.4","action":"accept","content":{"word":"fish"}}}}}`, task, task)
	for {
		m := w.next()
		if !strings.Contains(m, `"status":"completed"`) || member(t, m, "id") == "2" {
			continue
		}
		want := `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N}}`
		if got := timeless(m); got != want {
			t.Errorf("the client is told\n%s\nwant\n%s", got, want)
		}
		return
	}
}

// Over HTTP they come on the stream that the client opened for what no request
// asked for.
func TestStatusesAreToldOnTheClientsOwnStream(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	v := visit(t, r.site(t).URL, "2025-11-25", `{}`)
	next := v.stream(v.do(http.MethodGet, "", "Accept", "text/event-stream"))
	created := v.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	id := member(t, created, "result", "taskId")
	v.ask(`{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"taskId":` + id + `}}`)
	if got := next().data; !strings.Contains(got, `"method":"notifications/tasks/status"`) || !strings.Contains(got, `"status":"cancelled"`) {
		t.Errorf("the stream says %s", got)
	}
}

// A subscription tells its tasks as they are, then as they become, with all that
// tasks/get would say; others' tasks it does not take on.
func TestASubscriptionTellsItsTasks(t *testing.T) {
	r := newRig(t, asTask("word", generators.TaskPreferred))
	w := r.stdio(t)
	task := w.handle(1, "word")
	w.until(task, "input_required")
	id := strings.TrimPrefix(task, `"taskId":`)
	w.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s,%s,"unknown"]},%s}}`, id, id, modern(takesTasks, ""))
	if got := member(t, w.next(), "params", "notifications"); got != `{"taskIds":[`+id+`]}` {
		t.Errorf("the subscription takes on %s, want the one task", got)
	}
	told := w.next()
	want := `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"taskId":"RUN","status":"input_required",`
	if got := anonymous(told); !strings.HasPrefix(got, want) || !strings.Contains(got, `"inputRequests":{"word":{"method":"elicitation/create"`) {
		t.Errorf("the subscription tells\n%s\nwant\n%s…", got, want)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/update","params":{%s,"inputResponses":{"word":{"action":"accept","content":{"word":"fish"}}},%s}}`, task, modern(takesTasks, ""))
	for {
		m := w.next()
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

// A task that ended before anybody listened is told, too.
func TestASubscriptionMissesNoEnd(t *testing.T) {
	quick := generators.New("quick", func(context.Context, nothing, generators.Yield) (string, error) { return "done", nil },
		&generators.Options{Task: generators.TaskPreferred})
	w := newRig(t, quick).stdio(t)
	task := w.handle(1, "quick")
	w.until(task, "completed")
	w.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s]},%s}}`, strings.TrimPrefix(task, `"taskId":`), modern(takesTasks, ""))
	if got := w.notifications("notifications/tasks", "completed"); len(got) != 1 {
		t.Errorf("the subscription tells %v, want the end", got)
	}
}

// However often somebody comes and goes, whoever stays hears everything.
func TestManyMayWatchATask(t *testing.T) {
	steps := make(chan struct{})
	stepper := generators.New("stepper", func(ctx context.Context, _ nothing, yield generators.Yield) (string, error) {
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
	r := newRig(t, stepper)
	w := r.stdio(t)
	task := w.handle(1, "stepper")
	listen := fmt.Sprintf(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"taskIds":[%s]},%s}}`, strings.TrimPrefix(task, `"taskId":`), modern(takesTasks, ""))
	stays, goes := r.stdio(t), r.stdio(t)
	stays.send("%s", listen)
	stays.next() // it listens
	heard := make(chan []string, 1)
	go func() { heard <- stays.notifications("notifications/tasks", "completed") }()
	for range 20 {
		goes.send("%s", listen)
		goes.next()
		goes.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
		goes.extended(7, "tasks/get", task, takesTasks) // by now it has gone
	}
	for i := range 5 {
		w.until(task, "input_required")
		w.extended(2, "tasks/update", fmt.Sprintf(`%s,"inputResponses":{"word%d":{"action":"accept","content":{"word%d":"x"}}}`, task, i, i), takesTasks)
		steps <- struct{}{}
	}
	select {
	case statuses := <-heard:
		if len(statuses) < 2 {
			t.Errorf("who stayed heard %v", statuses)
		}
	case <-time.After(time.Minute):
		t.Fatal("who stayed did not hear the end")
	}
}
