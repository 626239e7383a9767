package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// Where anyone may call, a session lists the runs whose handles it has returned.
func TestSessionListsItsOwnWaitingRuns(t *testing.T) {
	asking := mcp.AskPolicy{Link: true, Handoff: 50 * time.Millisecond}
	url := newTestServerOn(t, asking, runlog.NewMemory(), wordPhoton).startHTTPServer(t).URL
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"beam_resume"}}`
	mine, other := newHTTPClient(t, url, "2025-11-25", `{}`), newHTTPClient(t, url, "2025-11-25", `{}`)
	next := mine.readEvents(mine.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`))
	next() // the link
	run := resumeHandle(t, next().data)
	if got := mine.requestJSON(list); !strings.Contains(got, "One tool call is waiting") || !strings.Contains(got, run) {
		t.Errorf("the list is %s, want the run", got)
	}
	if got := other.requestJSON(list); !strings.Contains(got, "No tool call is waiting") || strings.Contains(got, run) {
		t.Errorf("another session's list is %s, want no run", got)
	}
	modern := &httpClient{t: t, url: url, ctx: t.Context()}
	got := modern.requestJSON(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"beam_resume",`+modernMeta(`{}`, "")+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "beam_resume")
	if !strings.Contains(got, "can't be listed") || strings.Contains(got, run) {
		t.Errorf("the list of a client without a session is %s", got)
	}
}

// The list has the person's runs that MCP clients have started, and no others.
func TestListOfWaitingRunsIsThePersons(t *testing.T) {
	r := newLinkingServer(t, wordPhoton)
	ids := map[string]string{}
	for name, start := range map[string]struct {
		caller  generators.Caller
		surface string
	}{
		"another's": {generators.Caller{ID: "somebody else"}, "mcp"}, "the browser's": {operator, "browser"}, "a call": {operator, "mcp"}, "a task": {operator, "mcp task"},
	} {
		info, err := r.engine.Start(t.Context(), start.caller, engine.StartRequest{Photon: "word", Surface: start.surface})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = info.ID
		for range r.engine.Watch(t.Context(), start.caller) {
			if info, err := r.engine.Info(start.caller, info.ID); err != nil || info.State == engine.Waiting {
				break
			}
		}
	}
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"beam_resume"}}`)
	list := w.nextLine()
	for name, id := range ids {
		if want := name == "a call" || name == "a task"; strings.Contains(list, id) != want {
			t.Errorf("the list has the run of %s: %t, want %t: %s", name, !want, want, list)
		}
	}
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"beam_cancel","arguments":{"run":%q}}}`, ids["another's"])
	if got := w.nextLine(); !strings.Contains(got, "No run has this handle") {
		t.Errorf("canceling another's run gets %s", got)
	}
	if info, err := r.engine.Info(generators.Caller{ID: "somebody else"}, ids["another's"]); err != nil || info.State != engine.Waiting {
		t.Errorf("it is %s, %v", info.State, err)
	}
}

// The list is short, however many calls wait.
func TestListOfWaitingRunsIsBounded(t *testing.T) {
	r := newLinkingServer(t, wordPhoton)
	for range 30 {
		if _, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "word", Surface: "mcp"}); err != nil {
			t.Fatal(err)
		}
	}
	for range r.engine.Watch(t.Context(), operator) {
		if must(r.engine.CountOpenAsks(operator)) == 30 {
			break
		}
	}
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"beam_resume"}}`)
	if list := w.nextLine(); strings.Count(list, `"tool":`) != 20 || !strings.Contains(list, "20 or more tool calls") {
		t.Errorf("the list is %s", fmt.Sprintf("%.300s", list))
	}
}
