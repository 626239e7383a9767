package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
)

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

// The view shows only runs that clients have started.
func TestViewOfARunOfThePage(t *testing.T) {
	r := newAppServer(t, cityPhoton)
	info, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "city", Surface: "browser"})
	if err != nil {
		t.Fatal(err)
	}
	c := r.connectApp(t, operator, "2025-11-25", showsApps)
	if got := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, info.ID)); !got.IsError {
		t.Errorf("it reads %s", got.raw)
	}
}

// What can't be undone is for the signed-in page, unless the operator allows otherwise.
func TestDestructiveQuestionsAreNotForTheChat(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		config := appConfig()
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
	config := appConfig()
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

// A client that shows apps and can't be asked has no other way to answer them, whatever it
// sends.
func TestNoWayAroundThePage(t *testing.T) {
	for name, prompt := range map[string]*ask.Prompt[bool]{
		"destructive": ask.ForConfirm("ok", "Drop it?", ask.Destructive()),
		"from":        ask.ForConfirm("ok", "Drop it?", ask.From(ask.User("ada"))), // who may answer, on the page
		"not_caller":  ask.ForConfirm("ok", "Drop it?", ask.From(ask.Role("ops")), ask.NotCaller()),
	} {
		r := newAppServer(t, showingPhoton(name, prompt, generators.Options{}))
		for _, version := range appVersions {
			c := r.connectApp(t, requester, version, showsAppsAndTasks)
			answers := `"inputResponses":{"ok":{"action":"accept","content":{"ok":true}}}`
			if got := c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},%s}`, name, answers)); !strings.Contains(got, `"beam_run"`) {
				t.Errorf("%s, %s: answers before the question: %s", name, version, got)
			}
			run, question := c.ask(name)
			for method, params := range map[string]string{
				"tools/call":   fmt.Sprintf(`{"name":"beam_resume","arguments":{"run":%q},%s}`, run, answers),
				"tasks/update": fmt.Sprintf(`{"taskId":%q,%s}`, run, answers),
				"tasks/result": fmt.Sprintf(`{"taskId":%q,%s}`, run, answers),
			} {
				c.send(method, params)
			}
			c.sendLine(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"ok":true}}}`, question)
			for _, more := range []string{`"accept","ask":%q,"values":{"ok":["true"]},"unseen":true`, `"decline","ask":%q`, `"cancel","ask":%q`} {
				c.tool(apps.ActTool, fmt.Sprintf(`{"run":%q,"action":`+more+`}`, run, question))
			}
			if _, err := r.engine.OpenAsk(t.Context(), requester, question); err != nil {
				t.Errorf("%s, %s: the question is not open: %v", name, version, err)
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

// An answer is recorded with how much the chat has shown of what it is about.
func TestViewSaysWhatItCouldNotShow(t *testing.T) {
	look := showingPhoton("look", ask.ForText("word", "What is it?", ask.Showing(generators.Code("x.go", "go", "x"))), generators.Options{})
	for more, want := range map[string]runlog.Rendering{"": runlog.RenderedFull, `,"unseen":true`: runlog.RenderedTruncated} {
		r := newAppServer(t, look)
		c := r.connectApp(t, operator, "2025-11-25", showsApps)
		run, question := c.ask("look")
		c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"word":["a"]}%s`, question, more))
		if a := r.recordedAnswer(t); a.Evidence != want {
			t.Errorf("%s: the record says %q", more, a.Evidence)
		}
	}
}
