package mcp_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// How many runs of one caller work at once in the tests of bursts, how many there are, and
// how long each works before and after its question.
const (
	atOnce   = 2
	burst    = 8
	workTime = 200 * time.Millisecond
)

// testBurst runs f in a bubble with a client of a server with the tool brief.
func testBurst(t *testing.T, o *generators.Options, f func(t *testing.T, s *testServer, w *stdioClient)) {
	synctest.Test(t, func(t *testing.T) {
		brief := generators.New("brief", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
			time.Sleep(workTime)
			name, err := ask.Text(yield, "name", "Who?")
			time.Sleep(workTime)
			return name, err
		}, o)
		s := newLimitedServer(t, mcp.Config{}, runlog.NewMemory(), engine.Limits{Working: budget.Limit{Each: atOnce, All: 10 * atOnce}}, brief)
		w := s.connectStdio(t)
		f(t, s, w)
		if refused := s.engine.Budgets()[0].Usage().Refused; refused != (budget.Refusals{}) {
			t.Errorf("counted as refused: %+v", refused)
		}
		w.closeAndWait()
		s.close()
	})
}

// expectNoWait checks that a burst took no longer than its work, some at once.
func expectNoWait(t *testing.T, began time.Time) {
	t.Helper()
	if took, want := time.Since(began), burst/atOnce*workTime+workTime; took > want {
		t.Errorf("it took %s, want at most %s", took, want)
	}
}

// A burst of calls over stdio, and then of their answers, waits in line. Meanwhile, other
// messages are served, and a call can be cancelled.
func TestBurstOfCalls(t *testing.T) {
	testBurst(t, nil, func(t *testing.T, s *testServer, w *stdioClient) {
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		began := time.Now()
		for id := range burst {
			w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"brief"}}`, id)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
		if got := w.nextLine(); !strings.Contains(got, `"id":"ping"`) || time.Since(began) > 0 {
			t.Errorf("after %s, ping gets %s", time.Since(began), got)
		}
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, burst-1)
		var asks []string
		for range burst - 1 {
			asks = append(asks, jsonMember(t, w.nextLine(), "id"))
		}
		expectNoWait(t, began)
		began = time.Now()
		for _, id := range asks {
			w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"Ada"}}}`, id)
		}
		for range burst - 1 {
			if got := w.nextLine(); !strings.Contains(got, `"text":"Ada"`) {
				t.Errorf("a call gets %s", got)
			}
		}
		expectNoWait(t, began)
	})
}

// A burst of calls of 2026-07-28, and of the requests that bring their answers.
func TestBurstOfRoundTrips(t *testing.T) {
	testBurst(t, nil, func(t *testing.T, s *testServer, w *stdioClient) {
		call := func(more func(id int) string) (replies [burst]string) {
			began := time.Now()
			for id := range burst {
				w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"brief"%s,%s}}`, id, more(id), modernMeta(`{"elicitation":{}}`, ""))
			}
			for range burst {
				reply := w.nextLine()
				id, err := strconv.Atoi(jsonMember(t, reply, "id"))
				if err != nil {
					t.Fatalf("a call gets %s", reply)
				}
				replies[id] = reply
			}
			expectNoWait(t, began)
			return replies
		}
		asked := call(func(int) string { return "" })
		for _, got := range call(func(id int) string {
			return `,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},"requestState":` + jsonMember(t, asked[id], "result", "requestState")
		}) {
			if !strings.Contains(got, `"text":"Ada"`) {
				t.Errorf("a call gets %s", got)
			}
		}
	})
}

// A burst of tasks, and of tasks/update with their answers.
func TestBurstOfTaskUpdates(t *testing.T) {
	testBurst(t, &generators.Options{Task: generators.TaskPreferred}, func(t *testing.T, s *testServer, w *stdioClient) {
		request := func(method string, params func(id int) string) (results [burst]string) {
			for id := range burst {
				w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,%s}}`, id, method, params(id), modernMeta(tasksCapabilities, ""))
			}
			for range burst {
				reply := w.nextLine()
				id, err := strconv.Atoi(jsonMember(t, reply, "id"))
				if err != nil || !strings.Contains(reply, `"result"`) {
					t.Fatalf("%s gets %s", method, reply)
				}
				results[id] = reply
			}
			return results
		}
		created := request("tools/call", func(int) string { return `"name":"brief"` })
		<-time.After(burst * workTime) // in the bubble of testBurst
		task := func(id int) string { return `"taskId":` + jsonMember(t, created[id], "result", "taskId") }
		began := time.Now()
		request("tasks/update", func(id int) string {
			return task(id) + `,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}`
		})
		expectNoWait(t, began)
		<-time.After(burst * workTime) // in the bubble of testBurst
		for _, got := range request("tasks/get", task) {
			if !strings.Contains(got, `"text":"Ada"`) {
				t.Errorf("a task is %s", got)
			}
		}
	})
}
