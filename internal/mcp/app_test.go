package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

var appVersions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// Clients that don't declare the extension see no difference.
func TestOtherClientsSeeNoApps(t *testing.T) {
	with := newAppServer(t, cityPhoton, helloPhoton)
	without := newTestServerWith(t, mcp.Config{AskPolicy: mcp.DefaultAskPolicy()}, runlog.NewMemory(), cityPhoton, helloPhoton)
	for _, version := range append(appVersions, "2025-03-26") {
		for _, capabilities := range []string{`{}`, `{"elicitation":{}}`, `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}`} {
			a, b := with.connectApp(t, operator, version, capabilities), without.connectApp(t, operator, version, capabilities)
			for _, method := range []string{"tools/list", "resources/list", "resources/templates/list"} {
				if got, want := a.send(method, `{}`), b.send(method, `{}`); got != want {
					t.Errorf("%s, %s: %s is\n%s\nwant\n%s", version, capabilities, method, got, want)
				}
			}
			if got := a.send("tools/call", `{"name":"beam_app_read","arguments":{}}`); !strings.Contains(got, `unknown tool`) {
				t.Errorf("%s, %s: a tool of the view returns %s", version, capabilities, got)
			}
		}
	}
}

func TestViewIsNamedAndRead(t *testing.T) {
	taskOnly := showingPhoton("tasky", ask.ForText("a", "A?"), generators.Options{Task: generators.TaskRequired})
	r := newAppServer(t, cityPhoton, helloPhoton, taskOnly)
	for _, version := range appVersions {
		c := r.connectApp(t, operator, version, showsApps)
		list := c.send("tools/list", `{}`)
		var tools []struct {
			Name   string
			Output json.RawMessage `json:"outputSchema"`
			Meta   struct {
				Old string `json:"ui/resourceUri"`
				UI  struct {
					Address    string `json:"resourceUri"`
					Visibility []string
				}
			} `json:"_meta"`
		}
		if err := json.Unmarshal([]byte(jsonMember(t, list, "result", "tools")), &tools); err != nil {
			t.Fatal(err)
		}
		address := ""
		for _, tool := range tools {
			named := tool.Name == "city" || tool.Name == mcp.ResumeTool
			hidden := apps.IsTool(tool.Name)
			if (tool.Meta.UI.Address != "") != named || tool.Meta.Old != tool.Meta.UI.Address || fmt.Sprint(tool.Meta.UI.Visibility) != map[bool]string{true: "[app]", false: "[model]"}[hidden] || tool.Output != nil {
				t.Errorf("%s: %+v", version, tool)
			}
			if named {
				address = tool.Meta.UI.Address
			}
		}
		if !apps.IsAddress(address) || !strings.Contains(c.send("resources/list", `{}`), address) {
			t.Errorf("%s: the view is at %q", version, address)
		}
		for _, uri := range []string{address, "ui://beam/run-0123456789ab.html"} { // a host may have kept an old one
			got := c.send("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			if !strings.Contains(got, uri) || !strings.Contains(got, "text/html;profile=mcp-app") || strings.Contains(got, `"csp"`) {
				t.Errorf("%s: %.300s", version, got)
			}
		}
		if got := c.send("resources/read", `{"uri":"ui://beam/other.html"}`); !strings.Contains(got, "no resource") {
			t.Errorf("%s: another address returns %.300s", version, got)
		}
	}
}

func TestServerDeclaresApps(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	w := r.connectStdio(t)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"x","version":"1"}}}`, showsApps)
	if got := w.nextLine(); !strings.Contains(got, "io.modelcontextprotocol/ui") {
		t.Errorf("initialize returns %s", got)
	}
	c := r.connectApp(t, operator, "2026-07-28", showsApps)
	if got := jsonMember(t, c.send("server/discover", `{}`), "result", "capabilities", "extensions"); !strings.Contains(got, "io.modelcontextprotocol/ui") || !strings.Contains(got, "tasks") {
		t.Errorf("discovery returns %s", got)
	}
}

// A call that comes to ask ends at once, never becomes a task, and says everything twice.
func TestCallIsHandedOffToItsView(t *testing.T) {
	preferred := showingPhoton("prefers", ask.ForText("city", "Which city?"), generators.Options{Task: generators.TaskPreferred})
	for _, version := range appVersions {
		synctest.Test(t, func(t *testing.T) {
			r := newAppServer(t, cityPhoton, preferred)
			c := r.connectApp(t, operator, version, showsAppsAndTasks)
			for _, tool := range []string{"city", "prefers"} {
				begun := time.Now()
				got := c.tool(tool, `{}`)
				s := got.Structured
				if time.Since(begun) != 0 || got.IsError || s.Run == "" || len(s.Questions) != 1 || s.Questions[0].Question != "Which city?" {
					t.Fatalf("%s: after %s, %s returns %s", version, time.Since(begun), tool, got.raw)
				}
				call := fmt.Sprintf(`call the tool beam_resume with {"run": %q}`, s.Run)
				for _, text := range []string{got.Content[0].Text, s.Next} {
					if !strings.Contains(text, call) || !strings.Contains(text, "When the user says that they are done") {
						t.Errorf("%s: %s", version, text)
					}
				}
				for _, want := range []string{"Which city?", pagesOrigin + "/asks", "in the chat", s.Questions[0].Address} {
					if !strings.Contains(got.Content[0].Text, want) {
						t.Errorf("%s: the text %q lacks %s", version, got.Content[0].Text, want)
					}
				}
				if s.Inbox != pagesOrigin+"/asks" {
					t.Errorf("%s: the inbox is %s", version, s.Inbox)
				}
			}
		})
	}
}

// Elicitation comes first.
func TestElicitationPrecedesApps(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	c := r.connectApp(t, operator, "2025-11-25", `{"elicitation":{},`+showsApps[1:])
	c.sendLine(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"city"}}`)
	question := c.nextLine()
	if !strings.Contains(question, "elicitation/create") {
		t.Fatalf("the client gets %s", question)
	}
	c.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"city":"Oslo"}}}`, jsonMember(t, question, "id"))
	if got := c.awaitResponse(7); !strings.Contains(got, "Oslo") {
		t.Error(got)
	}
}

func TestViewAnswers(t *testing.T) {
	for _, version := range appVersions {
		r := newAppServer(t, cityPhoton)
		c := r.connectApp(t, operator, version, showsApps)
		run, question := c.ask("city")
		id := fmt.Sprintf(`,"ask":%q`, question)
		wrong := c.act(run, "accept", id+`,"values":{"city":["<"]}`).Structured.Invalid
		if wrong == nil || !strings.Contains(wrong.HTML, "2 to 40 characters") || !strings.Contains(wrong.HTML, `value="&lt;"`) {
			t.Fatalf("an invalid answer: %+v", wrong)
		}
		if got := c.act(run, "accept", id+`,"values":{"city":["Oslo"]}`); got.IsError || got.Structured.Settled {
			t.Fatal(got.raw)
		}
		if got := c.act(run, "accept", id+`,"values":{"city":["Rome"]}`); !got.Structured.Settled {
			t.Errorf("a second answer: %s", got.raw)
		}
		var s appResult
		for !s.Structured.Ended {
			s = c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q,"wait":5}`, run))
		}
		rows := fmt.Sprint(s.Structured.Rows)
		if !strings.Contains(rows, "answered through wire’s app, person not verified") || !strings.Contains(s.Structured.Result, "not a request of the user") || !strings.Contains(s.Structured.Result, "Oslo") {
			t.Errorf("%s: the view reads %s", version, s.raw)
		}
		if got := c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run)); !strings.Contains(got.raw, "Oslo") || got.IsError {
			t.Errorf("%s: the model gets %s", version, got.raw)
		}
	}
}

// That the model was told is recorded once, also across processes; a refused message takes
// the claim back.
func TestModelIsToldOnce(t *testing.T) {
	state, runs := smallstate.NewMemory(), runlog.NewMemory()
	durable := showingPhoton("city", ask.ForText("city", "Which city?"), generators.Options{Durable: true})
	first := newTestServerWith(t, appConfigWith(state), runs, durable)
	c := first.connectApp(t, operator, "2025-11-25", showsApps)
	run, question := c.ask("city")
	if got := c.act(run, "tell", `,"part":"message"`); !strings.Contains(got.Structured.Error, "has not ended") {
		t.Errorf("before the end: %s", got.raw)
	}
	c.act(run, "decline", fmt.Sprintf(`,"ask":%q`, question))
	for !c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q,"wait":5}`, run)).Structured.Ended {
	}
	tell := func(c *appClient, part string) bool {
		return c.act(run, "tell", fmt.Sprintf(`,"part":%q`, part)).Structured.Claimed
	}
	other := first.connectApp(t, operator, "2026-07-28", showsApps) // another session of the same person
	if !tell(c, "context") || tell(c, "context") || tell(other, "context") || !tell(other, "message") {
		t.Error("a part is not claimed once")
	}
	c.act(run, "untell", `,"part":"message"`)
	first.close()
	second := newTestServerWith(t, appConfigWith(state), runs, durable)
	c = second.connectApp(t, operator, "2025-11-25", showsApps)
	if told := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)).Structured.Told; told != (apps.Told{Context: true}) {
		t.Errorf("after a restart: %+v", told)
	}
	if tell(c, "context") || !tell(c, "message") {
		t.Error("after a restart, a part is claimed again")
	}
}

// A model that has fetched the result need not be told of it.
func TestResumedRunIsTold(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	run, question := c.ask("city")
	c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"]}`, question))
	c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run))
	if told := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)).Structured.Told; told != (apps.Told{Context: true, Message: true}) {
		t.Errorf("it is %+v", told)
	}
}

// A run that was stopped in the view says where.
func TestViewStops(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	run, _ := c.ask("city")
	if got := c.act(run, "stop", ""); got.IsError {
		t.Error(got.raw)
	}
	if got := c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run)); !strings.Contains(got.raw, "The user stopped the run through wire's app.") {
		t.Errorf("the model gets %s", got.raw)
	}
}

// Hosts show no view of errors, so a decline isn't one; a failure is.
func TestDeclineIsNoError(t *testing.T) {
	failing := generators.New("failing", func(_ context.Context, _ none, _ generators.Yield) (string, error) {
		return "", errors.New("broken")
	}, &generators.Options{Asks: true})
	r := newAppServer(t, cityPhoton, failing)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	run, question := c.ask("city")
	c.act(run, "decline", fmt.Sprintf(`,"ask":%q`, question))
	if got := c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run)); got.IsError || !strings.Contains(got.raw, `declined \"Which city?\"`) {
		t.Errorf("a declined call returns %s", got.raw)
	}
	if got := c.tool("failing", `{}`); !got.IsError {
		t.Errorf("a failed call returns %s", got.raw)
	}
}

// Over stdio, runs in memory are not shown: the host may start another process for the view.
func TestNoAppsOverStdioInMemory(t *testing.T) {
	config := appConfig()
	config.Apps.Ephemeral = true
	r := newTestServerWith(t, config, runlog.NewMemory(), cityPhoton)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	if got := c.send("tools/list", `{}`); strings.Contains(got, "ui://") || strings.Contains(got, "beam_app") {
		t.Errorf("the tools are %s", got)
	}
	if got := c.tool("city", `{}`); got.Structured.Run != "" || !strings.Contains(got.Content[0].Text, "beam_resume") {
		t.Errorf("the call returns %s", got.raw)
	}
	over := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", showsApps)
	body, err := io.ReadAll(over.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body)
	if err != nil || !strings.Contains(string(body), "ui://beam/run-") {
		t.Errorf("over HTTP, which has one process, the tools are %s, %v", body, err)
	}
}

// A read waits for something new, for 5 s at most.
func TestReadWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newAppServer(t, cityPhoton)
		c := r.connectApp(t, operator, "2025-11-25", showsApps)
		run, question := c.ask("city")
		begun := time.Now()
		s := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)).Structured
		s = c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q,"after":%d,"wait":60}`, run, s.Seq)).Structured
		if took := time.Since(begun); took != 5*time.Second || len(s.Rows) != 0 || len(s.Questions) != 1 || s.Questions[0].HTML != "" {
			t.Errorf("after %s: %+v", took, s)
		}
		go func() {
			time.Sleep(2 * time.Second)
			if err := r.engine.Answer(t.Context(), operator, question, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
				t.Error(err)
			}
		}()
		begun = time.Now()
		s = c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q,"after":%d,"wait":5}`, run, s.Seq)).Structured
		if took := time.Since(begun); took != 2*time.Second || len(s.Questions) != 0 {
			t.Errorf("after %s: %+v", took, s)
		}
	})
}

// Marks of runs that are gone are removed.
func TestMarksAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := appConfig()
		newTestServerWith(t, config, runlog.NewMemory(), cityPhoton)
		if _, err := config.Apps.Marks.Claim(t.Context(), "0123456789abcdef0123456789abcdef", apps.Context); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if told, err := config.Apps.Marks.Told(t.Context(), "0123456789abcdef0123456789abcdef"); told.Context || err != nil {
			t.Error("the mark of a run that doesn't exist is still there")
		}
	})
}

// What a tool panicked with, and where, reaches no client, not even an operator's.
func TestPanicIsNotToldToClients(t *testing.T) {
	p := generators.New("burn", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		if _, err := ask.Text(yield, "what", "What?"); err != nil {
			return "", err
		}
		panic("disk on fire")
	}, &generators.Options{Asks: true})
	dev := generators.Caller{ID: "dev", Roles: []string{generators.RoleOperator}}
	for _, version := range appVersions {
		r := newAppServer(t, p)
		c := r.connectApp(t, dev, version, showsApps)
		run, question := c.ask("burn")
		told := c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"what":["wood"]}`, question)).raw
		for range 2 {
			told += c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run)).raw + c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)).raw
		}
		if !strings.Contains(told, "it panicked") || strings.Contains(told, "fire") || strings.Contains(told, "app_test.go") {
			t.Errorf("%s: the client is told %s", version, told)
		}
	}
}
