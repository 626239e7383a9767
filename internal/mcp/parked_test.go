package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// newVersion returns a version of a photon. Runs of those that ask the same key fit.
func newVersion(key string, task generators.TaskSupport) *generators.Photon {
	return generators.New("word", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, key, "Which word?")
	}, &generators.Options{Title: "Word", Durable: true, Asks: true, Task: task})
}

// upgrades returns a function that replaces the program by one with another version.
func upgrades(t *testing.T, c mcp.Config, task generators.TaskSupport) func(key string) *testServer {
	log, r := runlog.NewMemory(), (*testServer)(nil)
	return func(key string) *testServer {
		if r != nil {
			r.close()
		}
		r = newTestServerWith(t, c, log, newVersion(key, task))
		r.AwaitEffects()
		return r
	}
}

// answerQuestion answers a request that asks a question.
func (w *stdioClient) answerQuestion(asked, content string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":%s}}`, jsonMember(w.t, asked, "id"), content)
}

func checkSays(t *testing.T, what, got string, wants, wrongs []string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q: %s", what, want, got)
		}
	}
	for _, wrong := range wrongs {
		if strings.Contains(got, wrong) {
			t.Errorf("%s has %q: %s", what, wrong, got)
		}
	}
}

// what must not be said to the client of a parked run.
var asksUser = []string{"elicitation/create", "inputRequests", "Answer at", "waiting for an answer", "for  to answer", "is for ."}

// A call that is resumed while its run is parked says why nobody can answer, and is answered once
// a program fits.
func TestParkedCallIsResumed(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			resume := func(w *stdioClient, id int, run string) string {
				if version == "2025-11-25" {
					w.initialize(version, `{"elicitation":{}}`)
					w.callResumeTool(id, run, "")
				} else {
					w.callResumeTool(id, run, ","+modernMeta(`{"elicitation":{}}`, ""))
				}
				return w.linesUntil(fmt.Sprint(id))
			}
			policy := mcp.AskPolicy{Link: true, Handoff: 100 * time.Millisecond}
			upgrade := upgrades(t, mcp.Config{AskPolicy: policy}, generators.TaskForbidden)
			r := upgrade("word")
			started, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "word", Surface: "mcp"})
			if err != nil {
				t.Fatal(err)
			}
			r = upgrade("phrase")
			w := r.connectStdio(t)
			said := resume(w, 1, started.ID)
			checkSays(t, "the resumed call", said, []string{"Word has not finished. Parked: ", `log has \"word\"`, "Nobody can answer now", "Which word?", "Tell the user", "beam_resume", "beam_cancel"}, asksUser)
			if version == "2025-11-25" {
				w.callResumeTool(2, "", "")
				checkSays(t, "the list", w.linesUntil("2"), []string{"One tool call is waiting", "Parked: ", "Nobody can answer now"}, asksUser)
			}
			r = upgrade("word")
			w = r.connectStdio(t)
			if version == "2025-11-25" {
				w.initialize(version, `{"elicitation":{}}`)
				w.callResumeTool(3, started.ID, "")
				question := w.nextLine()
				w.answerQuestion(question, `{"word":"fish"}`)
				checkSays(t, "the answered call", w.linesUntil("3"), []string{`"text":"fish"`}, nil)
				return
			}
			checkSays(t, "the resumed call", resume(w, 3, started.ID), []string{"input_required", "elicitation/create"}, nil)
		})
	}
}

// An answer with a requestState to a parked run gets an error, and is recorded when it comes again.
func TestParkedRunKeepsRequestState(t *testing.T) {
	upgrade := upgrades(t, mcp.Config{}, generators.TaskForbidden)
	w := upgrade("word").connectStdio(t)
	w.callModern(1, "word", `{"elicitation":{}}`)
	first := w.nextLine()
	answer := `{"word":{"action":"accept","content":{"word":"fish"}}}`
	w = upgrade("phrase").connectStdio(t)
	w.retryWithState(2, "word", first, answer)
	checkSays(t, "the response", w.linesUntil("2"), []string{`"error"`, "this run is parked", `log has \"word\"`, "Put the old version"}, nil)
	w = upgrade("word").connectStdio(t)
	w.retryWithState(3, "word", first, answer)
	checkSays(t, "the response", w.linesUntil("3"), []string{`"text":"fish"`}, nil)
}

// The task of a parked run works, says why, and takes no answer.
func TestParkedTask(t *testing.T) {
	upgrade := upgrades(t, mcp.Config{}, generators.TaskPreferred)
	w := upgrade("word").connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	task := w.createTask(1, "word")
	handle := w.callExtensionTask(2, "word")

	r := upgrade("phrase")
	w = r.connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	for range 3 { // a client that polls on isn't asked
		w.sendTaskRequest(3, "tasks/get", task)
		checkSays(t, "the task", w.linesUntil("3"), []string{`"status":"working"`, `"statusMessage":"Parked: `}, asksUser)
	}
	asks := must(r.engine.Inbox(operator, 0))
	if len(asks) != 2 {
		t.Fatalf("the inbox has %+v", asks)
	}
	checkSays(t, "the answer", w.sendElicitationResponse(4, task, `{"elicitationId":"`+asks[0].ID+`","action":"decline"}`), []string{`"error"`, "this run is parked"}, nil)
	checkSays(t, "the other task", w.requestModern(5, "tasks/get", handle, tasksCapabilities), []string{`"status":"working"`, `"statusMessage":"Parked: `}, asksUser)
	checkSays(t, "the update", w.requestModern(6, "tasks/update", handle+`,"inputResponses":{"word":{"action":"decline"}}`, tasksCapabilities), []string{`"error"`, "no answer was recorded: this run is parked"}, nil)

	w = upgrade("word").connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	w.requestModern(7, "tasks/update", handle+`,"inputResponses":{"word":{"action":"accept","content":{"word":"frog"}}}`, tasksCapabilities)
	if got := jsonMember(t, w.pollUntil(handle, "completed"), "result", "result", "content"); got != `[{"type":"text","text":"frog"}]` {
		t.Errorf("the result is %s", got)
	}
}

// A client whose run turns out to be parked while it asks the user is told to stop.
func TestRunIsParkedWhileClientAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changed atomic.Bool
		photon := generators.New("pair", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
			if changed.Load() {
				return ask.Text(yield, "third", "Third?")
			}
			var first, second string
			err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
			return first + second, err
		}, &generators.Options{Durable: true})
		r := newLimitedServer(t, mcp.Config{AskPolicy: mcp.AskPolicy{Link: true, Handoff: time.Hour}}, runlog.NewMemory(), engine.Limits{ReplayAlways: true}, photon)
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pair","_meta":{"progressToken":7}}}`)
		first, asked := w.nextLine(), w.nextLine()
		time.Sleep(10 * time.Second) // it is evicted
		changed.Store(true)
		w.answerQuestion(first, `{"first":"fish"}`)
		said := ""
		for !strings.Contains(said, "because its run is parked: Second?") {
			said += w.nextLine() + "\n"
		}
		checkSays(t, "the client", said, []string{"Parked: ", "notifications/cancelled", `"requestId":` + jsonMember(t, asked, "id"), "the run is parked"}, asksUser)
		w.answerQuestion(asked, `{"second":"late"}`)
		synctest.Wait()
		if asks := must(r.engine.Inbox(operator, 0)); len(asks) != 2 || asks[0].Parked == nil {
			t.Errorf("the inbox has %+v", asks)
		}
		w.closeAndWait()
	})
}

// The view in a chat of a parked run says why, and can't answer; once a program fits, it can.
func TestParkedRunInView(t *testing.T) {
	for _, version := range appVersions {
		upgrade := upgrades(t, appConfigWith(smallstate.NewMemory()), generators.TaskForbidden)
		c := upgrade("word").connectApp(t, operator, version, showsApps)
		run, question := c.ask("word")
		read := fmt.Sprintf(`{"run":%q,"after":%d}`, run, c.tool(apps.ReadTool, `{"run":"`+run+`"}`).Structured.Seq)
		c = upgrade("phrase").connectApp(t, operator, version, showsApps)
		s := c.tool(apps.ReadTool, read).Structured
		checkSays(t, "the view", s.Questions[0].HTML, []string{"Nobody can answer this now, because its run is parked", "Put the old version", "data-parked"}, []string{"data-do", "<input", "Open in Beam"})
		for _, action := range []string{"accept", "decline", "cancel"} {
			if got := c.act(run, action, `,"ask":"`+question+`","values":{"word":["go"]}`); !got.IsError || !strings.Contains(got.Structured.Error, "this run is parked") {
				t.Errorf("%s: %s: %s", version, action, got.raw)
			}
		}
		said := c.tool("beam_resume", `{"run":"`+run+`"}`)
		checkSays(t, "the resumed call", said.raw, []string{"Parked: ", "Nobody can answer now", "Tell the user"}, append(asksUser, "the user can answer", "The user sees the question"))
		c = upgrade("word").connectApp(t, operator, version, showsApps)
		s = c.tool(apps.ReadTool, read).Structured
		checkSays(t, "the view", s.Questions[0].HTML, []string{"data-do", "<input"}, []string{"parked"})
		if got := c.act(run, "accept", `,"ask":"`+question+`","values":{"word":["go"]}`); got.IsError {
			t.Errorf("%s: %s", version, got.raw)
		}
	}
}
