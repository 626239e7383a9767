package testserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/testserver"
)

// failing are the tools other than the faults that end with an error on purpose, and
// what it says.
var failing = map[string]string{
	"content_error": "This tool always fails.", "content_protocol_error": "This call always fails.",
	"require_url": "authorization", "task_required": "only be called as a task", "task_failing": "always fails",
	"ask_anything": "argument params is missing", "sample_anything": "argument params is missing",
}

// arguments are the arguments of tools that need some.
var arguments = map[string]any{
	"request_llm_help": map[string]any{"question": "Where?"},
	"progress":         map[string]any{"steps": 3, "delay": 0},
	"slow":             map[string]any{"ms": 1},
	"ask_url":          map[string]any{"after": 0},
}

// Every tool works with the official client, in every version and over both transports.
func TestOfficialClientCallsEveryTool(t *testing.T) {
	for _, version := range testserver.Versions {
		for name, overHTTP := range map[string]bool{"stdio": false, "http": true} {
			t.Run(version+" over "+name, func(t *testing.T) {
				t.Parallel()
				session := connectOfficial(t, testserver.Options{Protocol: version}, overHTTP, "accept")
				if got := session.InitializeResult().ProtocolVersion; got != version {
					t.Fatalf("they agreed on %s, want %s", got, version)
				}
				called := 0
				for tool, err := range session.Tools(t.Context(), nil) {
					if err != nil {
						t.Fatal(err)
					}
					if !strings.HasPrefix(tool.Name, "fault_") {
						checkTool(t, session, tool.Name, version)
						called++
					}
				}
				if called < 50 {
					t.Errorf("called %d tools, want at least 50", called)
				}
			})
		}
	}
}

func checkTool(t *testing.T, session *mcp.ClientSession, name, version string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments[name]})
	got := ""
	if err != nil {
		got = err.Error()
	} else {
		raw, _ := json.Marshal(result)
		got = string(raw)
	}
	failed := err != nil || result.IsError
	want, fails := failing[name]
	if name == "require_url" && version == testserver.Versions[0] {
		fails = false // it asks instead
	}
	switch {
	case fails && !(failed && strings.Contains(got, want)):
		t.Errorf("%s returned %s, want an error with %q", name, got, want)
	case !fails && failed:
		t.Errorf("%s failed: %s", name, got)
	}
}

func TestDeclineAndCancelAreVisible(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		for _, version := range testserver.Versions {
			session := connectOfficial(t, testserver.Options{Protocol: version}, false, action)
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_user_preferences"})
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(got, `"action": "`+action+`"`) {
				t.Errorf("in %s, after %s the result is %s", version, action, got)
			}
		}
	}
}

func TestFieldToolsOnTheWire(t *testing.T) {
	l := connectLines(t, testserver.Options{})
	l.initialize("2025-11-25")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_user_preferences","arguments":{}}}`)
	want := `{"jsonrpc":"2.0","id":"ask-1","method":"elicitation/create","params":{"message":"Please configure your preferences for this operation:","requestedSchema":{"type":"object","properties":{` +
		`"outputFormat":{"type":"string","title":"Output Format","description":"How should results be formatted?","enum":["json","markdown","plain"]},` +
		`"verbosity":{"type":"string","title":"Verbosity Level","enum":["minimal","normal","verbose"]},` +
		`"includeTimestamps":{"type":"boolean","title":"Include Timestamps","default":true}},"required":["outputFormat"]}}}`
	if got := l.next(); got != want {
		t.Errorf("the question is\n%s, want\n%s", got, want)
	}
	l.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"outputFormat":"json","includeTimestamps":true}}}`)
	want = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"User preferences: {\n  \"action\": \"accept\",\n  \"content\": {\n    \"outputFormat\": \"json\",\n    \"includeTimestamps\": true\n  }\n}","type":"text"}]}}`
	if got := l.next(); got != want {
		t.Errorf("the result is\n%s, want\n%s", got, want)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"request_llm_help","arguments":{"question":"Why?"}}}`)
	want = `{"jsonrpc":"2.0","id":"ask-2","method":"sampling/createMessage","params":{"maxTokens":500,"messages":[{"content":{"text":"Why?","type":"text"},"role":"user"}]}}`
	if got := l.next(); got != want {
		t.Errorf("the question is\n%s, want\n%s", got, want)
	}
	l.send(`{"jsonrpc":"2.0","id":"ask-2","result":{"role":"assistant","model":"m","content":{"type":"text","text":"Because."}}}`)
	if got, want := l.next(), `"text":"LLM Response: Because."`; !strings.Contains(got, want) {
		t.Errorf("the result is %s, want %s in it", got, want)
	}
	l.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask_user_preferences"}}`)
	l.next()
	l.send(`{"jsonrpc":"2.0","id":"ask-3","error":{"code":-32601,"message":"no person here"}}`)
	if got, want := l.next(), `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no person here"}}`; got != want {
		t.Errorf("an error of the client becomes %s, want %s", got, want)
	}
}

func TestResourcesAndPromptsAsk(t *testing.T) {
	for _, version := range testserver.Versions {
		session := connectOfficial(t, testserver.Options{Protocol: version}, false, "accept")
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://asking"})
		if err != nil || !strings.Contains(read.Contents[0].Text, "Ada") {
			t.Errorf("in %s, the resource that asks is %v (%v)", version, read, err)
		}
		prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "asking"})
		if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "Ada") {
			t.Errorf("in %s, the prompt that asks is %v (%v)", version, prompt, err)
		}
	}
}

func TestCancellation(t *testing.T) {
	l := connectLines(t, testserver.Options{})
	l.initialize("2025-11-25")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_text"}}`)
	l.next()
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got, want := l.next(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"the request it belongs to was canceled","requestId":"ask-1"}}`; got != want {
		t.Errorf("after the call was cancelled, the server sent %s, want %s", got, want)
	}
}

func TestTasksOf20251125(t *testing.T) {
	l := connectLines(t, testserver.Options{})
	l.initialize("2025-11-25")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_asking","task":{"ttl":60000}}}`)
	var created struct {
		Result struct {
			Task struct{ TaskID, Status string }
		}
	}
	messages := []string{l.next(), l.next()}
	question := messages[1]
	if strings.Contains(messages[0], "elicitation/create") {
		question = messages[0]
		messages[0] = messages[1]
	}
	if err := json.Unmarshal([]byte(messages[0]), &created); err != nil || created.Result.Task.TaskID == "" {
		t.Fatalf("the call returned %s (%v), want a task", messages[0], err)
	}
	id := created.Result.Task.TaskID
	if !strings.Contains(question, `"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}`) {
		t.Errorf("the question is %s, want one with related-task", question)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"` + id + `"}}`)
	if got := l.next(); !strings.Contains(got, `"status":"input_required"`) {
		t.Errorf("the task is %s, want input_required", got)
	}
	l.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"` + id + `"}}`)
	if got := l.next(); !strings.Contains(got, `decline`) || !strings.Contains(got, "related-task") {
		t.Errorf("the task's result is %s", got)
	}
}

func TestTasksOfTheExtension(t *testing.T) {
	l := connectLines(t, testserver.Options{})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_asking",` + meta + `}}`)
	var created struct {
		Result struct{ ResultType, TaskID string }
	}
	if err := json.Unmarshal([]byte(l.next()), &created); err != nil || created.Result.ResultType != "task" {
		t.Fatalf("the call returned %+v (%v), want a task", created, err)
	}
	get := `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"` + created.Result.TaskID + `",` + meta + `}}`
	expectTask := func(want string) {
		t.Helper()
		has := func() bool {
			l.send(get)
			return strings.Contains(l.next(), want)
		}
		if !programtest.Poll(has) {
			t.Fatalf("the task never had %s", want)
		}
	}
	expectTask(`"inputRequests":{"ask-1":{"method":"elicitation/create"`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/update","params":{"taskId":"` + created.Result.TaskID + `","inputResponses":{"ask-1":{"action":"cancel"}},` + meta + `}}`)
	l.next()
	expectTask(`\"action\": \"cancel\"`)
}
