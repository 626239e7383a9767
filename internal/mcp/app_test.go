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
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
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
			if (tool.Meta.UI.Address != "") != named || tool.Meta.Old != tool.Meta.UI.Address || (fmt.Sprint(tool.Meta.UI.Visibility) == "[app]") != hidden || tool.Output != nil {
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

// A handle names a run and authorizes nothing, and neither does the role of an operator.
func TestViewOfAnotherCaller(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	run, question := r.connectApp(t, generators.Caller{ID: "ada"}, "2025-11-25", showsApps).ask("city")
	stranger := generators.Caller{ID: "eve", Roles: []string{generators.RoleOperator}}
	for _, version := range appVersions {
		c := r.connectApp(t, stranger, version, showsApps)
		own, _ := c.ask("city")
		for name, got := range map[string]appResult{
			"read":           c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)),
			"unknown":        c.tool(apps.ReadTool, `{"run":"0123456789abcdef0123456789abcdef"}`),
			"answer":         c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"]}`, question)),
			"through theirs": c.act(own, "accept", fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"]}`, question)),
			"stop":           c.act(run, "stop", ""),
			"tell":           c.act(run, "tell", `,"part":"message"`),
		} {
			if !got.IsError || got.Structured.Error != "no run has this handle, or it is no longer kept" {
				t.Errorf("%s, %s: %s", version, name, got.raw)
			}
		}
	}
	if open, err := r.engine.OpenAsk(t.Context(), generators.Caller{ID: "ada"}, question); err != nil {
		t.Errorf("the question is not open: %v %v", open, err)
	}
}

// What can't be undone is for the signed-in page, unless the operator allows otherwise.
func TestDestructiveQuestionsAreNotForTheChat(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		config := appConfig("")
		config.Apps.Policy.Destructive = allowed
		r := newTestServerWith(t, config, runlog.NewMemory(), dropPhoton)
		c := r.connectApp(t, operator, "2025-11-25", showsApps)
		run, question := c.ask("drop")
		html := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, run)).Structured.Questions[0].HTML
		if strings.Contains(html, "<button") != allowed || strings.Contains(html, pagesOrigin+"/asks/"+question) == allowed {
			t.Errorf("allowed %t: the view has %s", allowed, html)
		}
		for _, action := range []string{"decline", "cancel", "accept"} {
			got := c.act(run, action, fmt.Sprintf(`,"ask":%q,"values":{"ok":["true"]}`, question))
			if got.IsError == allowed || !allowed && !strings.Contains(got.Structured.Error, "signed in") {
				t.Errorf("allowed %t, %s: %s", allowed, action, got.raw)
			}
		}
	}
}

// A question that names who may answer is for those who have signed in, whatever the
// operator allows.
func TestQuestionsForOthersAreNotForTheChat(t *testing.T) {
	config := appConfig("")
	config.Apps.Policy.Destructive = true
	boss := showingPhoton("boss", ask.ForText("word", "Which word?", ask.From(ask.User("ada"))), generators.Options{})
	second := showingPhoton("second", ask.ForText("word", "Which word?", ask.NotCaller()), generators.Options{})
	r := newTestServerWith(t, config, runlog.NewMemory(), boss, second)
	for _, caller := range []generators.Caller{{ID: "ada", Name: "ada"}, operator} {
		for _, tool := range []string{"boss", "second"} {
			c := r.connectApp(t, caller, "2025-11-25", showsApps)
			got := c.tool(tool, `{}`)
			if got.Structured.Run == "" { // nobody qualifies
				continue
			}
			s := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, got.Structured.Run)).Structured
			if s.Ended || len(s.Questions) != 1 || strings.Contains(s.Questions[0].HTML, "<button") {
				t.Fatalf("%s, %s: the view reads %+v", caller.ID, tool, s)
			}
			for _, action := range []string{"accept", "decline", "cancel"} {
				if got := c.act(got.Structured.Run, action, fmt.Sprintf(`,"ask":%q,"values":{"word":["x"]}`, s.Questions[0].ID)); !got.IsError {
					t.Errorf("%s, %s: %s returns %s", caller.ID, tool, action, got.raw)
				}
			}
		}
	}
}

// A password doesn't pass through a chat, but can be refused there.
func TestSecretsAreNotForTheChat(t *testing.T) {
	r := newAppServer(t, secretPhoton)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	run, question := c.ask("login")
	id := fmt.Sprintf(`,"ask":%q`, question)
	if got := c.act(run, "accept", id+`,"values":{"key":["s3cret"]}`); !got.IsError {
		t.Errorf("it is accepted: %s", got.raw)
	}
	if got := c.act(run, "decline", id); got.IsError {
		t.Errorf("it can't be declined: %s", got.raw)
	}
}

// That the model was told is recorded once, also across processes; a refused message takes
// the claim back.
func TestModelIsToldOnce(t *testing.T) {
	folder, runs := t.TempDir(), runlog.NewMemory()
	durable := showingPhoton("city", ask.ForText("city", "Which city?"), generators.Options{Durable: true})
	first := newTestServerWith(t, appConfig(folder), runs, durable)
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
	second := newTestServerWith(t, appConfig(folder), runs, durable)
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
	config := appConfig("")
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
			if err := r.engine.Answer(t.Context(), operator, question, ask.Answer{Action: ask.Decline}, "browser"); err != nil {
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

// A model may call the tools of the view, with anything.
func TestHostileCallsOfTheView(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	run, question := c.ask("city")
	if got := c.tool(apps.ReadTool, `{}`); got.IsError || got.Structured.Inbox == "" || got.Structured.State != "" {
		t.Errorf("without a handle: %s", got.raw) // never the latest run
	}
	for _, arguments := range []string{
		`{"run":7}`, `{"run":"../../etc"}`, `{"latest":true}`, `{"run":"` + strings.Repeat("a", 100_000) + `"}`,
		fmt.Sprintf(`{"run":%q,"after":-1}`, run), fmt.Sprintf(`{"run":%q,"wait":"long"}`, run),
	} {
		if got := c.tool(apps.ReadTool, arguments); !got.IsError || got.Structured.Error == "" {
			t.Errorf("%.100s: %s", arguments, got.raw)
		}
	}
	for _, more := range []string{
		`"action":"accept"`, `"action":"accept","ask":"x"`, fmt.Sprintf(`"action":"approve","ask":%q`, question), `"action":"tell","part":"all"`,
		fmt.Sprintf(`"action":"accept","ask":%q,"values":{"city":"Oslo"}`, question),
		fmt.Sprintf(`"action":"accept","ask":%q,"values":{"city":[%q]}`, question, strings.Repeat("a", 2<<20)),
	} {
		if got := c.tool(apps.ActTool, fmt.Sprintf(`{"run":%q,%s}`, run, more)); !got.IsError || got.Structured.Error == "" {
			t.Errorf("%.100s: %.300s", more, got.raw)
		}
	}
	if got := c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"],"beam:tz":["../../etc/passwd"]}`, question)); got.IsError {
		t.Error(got.raw)
	}
}
