package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/apps"
)

var (
	requester = generators.Caller{ID: "user:ada", Name: "ada"}
	approver  = generators.Caller{ID: "user:ben", Name: "ben", Roles: []string{"ops"}}
)

// newApprovalPhoton returns a photon whose question is for people with the role ops, but
// not for who started the run.
func newApprovalPhoton(task generators.TaskSupport) *generators.Photon {
	return generators.New("approve", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which secret word?", ask.From(ask.Role("ops")), ask.NotCaller())
	}, &generators.Options{Title: "Approve", Durable: true, Task: task})
}

// linesUntil returns all messages up to the response to a request, in one text.
func (w *stdioClient) linesUntil(id string) string {
	w.t.Helper()
	var all strings.Builder
	for {
		m := w.nextLine()
		all.WriteString(m + "\n")
		if jsonMember(w.t, m, "id") == id && jsonMember(w.t, m, "method") == "" {
			return all.String()
		}
	}
}

// A client whose user may not answer is never asked. It learns who may, and gets the
// result once they have answered.
func TestExcludedClientIsNotAsked(t *testing.T) {
	const full = `{"elicitation":{"form":{},"url":{}},"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"word":"go"}`)}
	calls := map[string]func(w *stdioClient) string{
		"2025-11-25": func(w *stdioClient) string {
			w.initialize("2025-11-25", full)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approve","_meta":{"progressToken":7}}}`)
			return w.linesUntil("1")
		},
		"2026-07-28": func(w *stdioClient) string {
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approve","arguments":{},%s}}`, modernMeta(`{"elicitation":{"form":{},"url":{}}}`, ""))
			return w.linesUntil("1")
		},
	}
	for version, call := range calls {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newLinkingServer(t, newApprovalPhoton(generators.TaskOptional))
				w := r.connectStdioAs(t, requester)
				got := call(w)
				for _, wrong := range []string{"elicitation/create", "inputRequests"} {
					if strings.Contains(got, wrong) {
						t.Errorf("the client is sent %s: %s", wrong, got)
					}
				}
				for _, want := range []string{"waiting for an answer from somebody else", "The user may not answer it. It is for a person with the role ops, but not the person who started the run.", "Tell the user who is to answer", "beam_resume"} {
					if !strings.Contains(got, want) {
						t.Errorf("the result lacks %q: %s", want, got)
					}
				}
				lines := strings.Split(strings.TrimSpace(got), "\n")
				run := resumeHandle(t, lines[len(lines)-1])
				inbox := must(r.engine.Inbox(approver, 0))
				if len(inbox) != 1 {
					t.Fatalf("the approver's inbox is %+v", inbox)
				}
				if err := r.engine.Answer(t.Context(), approver, inbox[0].ID, answer, "browser"); err != nil {
					t.Fatal(err)
				}
				if version == "2025-11-25" {
					w.callResumeTool(2, run, "")
				} else {
					w.callResumeTool(2, run, ","+modernMeta(`{"elicitation":{}}`, ""))
				}
				if got := w.linesUntil("2"); !strings.Contains(got, `"text":"go"`) {
					t.Errorf("resumed, the call returns %s", got)
				}
			})
		})
	}
}

// A task whose question is for others works on; its client can't answer by any of the
// requests about tasks.
func TestExcludedClientOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLinkingServer(t, newApprovalPhoton(generators.TaskOptional))
		w := r.connectStdioAs(t, requester)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approve","task":{}}}`)
		created := w.awaitResponse(1)
		task := jsonMember(t, created, "result", "task", "taskId")
		if task == "" {
			task = jsonMember(t, created, "result", "taskId")
		}
		synctest.Wait()
		askID := must(r.engine.Inbox(approver, 0))[0].ID
		for range 3 { // a client that polls on is asked
			w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%s}}`, task)
			if got := w.linesUntil("2"); strings.Contains(got, "elicitation") || !strings.Contains(got, "waits for a person with the role ops") {
				t.Errorf("polling returns %s", got)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		w.sendLine(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":%s,"_meta":{"io.modelcontextprotocol/elicitation-response":{"elicitationId":%q,"action":"decline"}}}}`, task, askID)
		if got := w.linesUntil("3"); !strings.Contains(got, "this question is for others to answer") {
			t.Errorf("answering returns %s", got)
		}
		modern := r.connectStdioAs(t, requester)
		params := `"taskId":` + task
		if got := modern.requestModern(1, "tasks/get", params, tasksCapabilities); strings.Contains(got, "inputRequests") || jsonMember(t, got, "result", "status") != `"working"` {
			t.Errorf("the modern task is %s", got)
		}
		modern.requestModern(2, "tasks/update", params+`,"inputResponses":{"word":{"action":"decline"}}`, tasksCapabilities)
		if n := must(r.engine.CountOpenAsks(approver)); n != 1 {
			t.Errorf("afterwards, %d questions are open", n)
		}
	})
}

// The view in a chat whose user may not answer says who may, and can't answer.
func TestExcludedClientOfAView(t *testing.T) {
	for _, version := range appVersions {
		r := newAppServer(t, showingPhoton("approve", ask.ForText("word", "Which word?", ask.From(ask.Role("ops")), ask.NotCaller()), generators.Options{}))
		c := r.connectApp(t, requester, version, showsApps)
		run, question := c.ask("approve")
		for _, action := range []string{"accept", "decline", "cancel"} {
			if got := c.act(run, action, `,"ask":"`+question+`","values":{"word":["go"]}`); !got.IsError || !strings.Contains(got.Structured.Error, "for others to answer: a person with the role ops") {
				t.Errorf("%s: %s: %s", version, action, got.raw)
			}
		}
		html := c.tool(apps.ReadTool, `{"run":"`+run+`"}`).Structured.Questions[0].HTML
		if !strings.Contains(html, "Only a person with the role ops, but not the person who started the run can answer this.") || strings.Contains(html, "data-do") || strings.Contains(html, "<input") {
			t.Errorf("%s: the view shows %s", version, html)
		}
		if n := must(r.engine.CountOpenAsks(approver)); n != 1 {
			t.Errorf("%s: afterwards, %d questions are open", version, n)
		}
	}
}
