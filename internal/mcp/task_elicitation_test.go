package mcp_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

type booking struct {
	Date string `json:"date"`
	Time string `json:"time"`
}

// bookDinner is the tool in the proposal for elicitations that don't block (MCP's issue
// 1869).
var bookDinner = generators.New("book_dinner", func(_ context.Context, in booking, yield generators.Yield) (any, error) {
	yield(generators.Status("Checking availability for your reservation..."))
	guests, err := ask.Number(yield, "partySize", "How many people will be dining?", ask.Title("Number of guests"), ask.Range(1, 20))
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("A table for %v on %s at %s", guests, in.Date, in.Time), nil
}, &generators.Options{Description: "Book a dinner reservation", Task: generators.TaskPreferred})

var (
	timestampPattern = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"`)
	ttlPattern       = regexp.MustCompile(`"ttl(Ms)?":\d+`)
)

// maskTimes replaces ids and times, which differ between test runs.
func maskTimes(message string) string {
	return ttlPattern.ReplaceAllString(timestampPattern.ReplaceAllString(maskIDs(message), `"TIME"`), `"ttl${1}":N`)
}

// requestJSON sends a request whose response must be one JSON document, not a stream, unless
// it takes as long as two seconds, when any becomes a stream.
func (v *httpClient) requestJSON(body string, headers ...string) string {
	v.t.Helper()
	begun := time.Now()
	r := v.postMessage(body, headers...)
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if _, only, isStream := strings.Cut(string(raw), "data: {"); isStream && time.Since(begun) >= 2*time.Second {
		message, more, _ := strings.Cut("{"+only, "\n")
		if err != nil || strings.Contains(more, "data: {") {
			v.t.Fatalf("the stream has %s, %v", raw, err)
		}
		return message
	}
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		v.t.Fatalf("%s %s: %s %v", r.Status, r.Header.Get("Content-Type"), raw, err)
	}
	return string(raw)
}

// This is the proposal's whole flow, message by message, with a client that did not
// declare elicitation. It takes three round trips, none of which waits.
func TestTaskElicitationsDoNotBlock(t *testing.T) {
	r := newTaskServer(t, bookDinner)
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{}`)

	created := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_dinner","arguments":{"date":"2025-11-22","time":"19:00"},"task":{}}}`)
	want := `{"jsonrpc":"2.0","id":1,"result":{"taskId":"RUN","status":"input_required","statusMessage":"waits for an answer: How many people will be dining? Answer at http://127.0.0.1:3008/asks/RUN.4","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":null,"pollInterval":2000,` +
		`"task":{"taskId":"RUN","status":"working","statusMessage":"Checking availability for your reservation...","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":null,"pollInterval":500},` +
		`"_meta":{"io.modelcontextprotocol/model-immediate-response":"Checking availability for your reservation...",` +
		`"io.modelcontextprotocol/pending-elicitations":[{"mode":"form","message":"How many people will be dining?\n\nThis question is lost if Beam restarts.",` +
		`"requestedSchema":{"type":"object","properties":{"partySize":{"type":"number","title":"Number of guests","minimum":1,"maximum":20}},"required":["partySize"]},"elicitationId":"RUN.4"}],` +
		`"io.modelcontextprotocol/related-task":{"taskId":"RUN"}}}}`
	if got := maskTimes(created); got != want {
		t.Fatalf("the task is created with\n%s\nwant\n%s", got, want)
	}
	id := jsonMember(t, created, "result", "taskId")

	got := v.requestJSON(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":` + id + `,"_meta":{"io.modelcontextprotocol/elicitation-response":{` +
		`"elicitationId":` + strings.TrimSuffix(id, `"`) + `.4","action":"accept","content":{"partySize":4}}}}}`)
	completed := `{"jsonrpc":"2.0","id":2,"result":{"taskId":"RUN","status":"completed","createdAt":"TIME","lastUpdatedAt":"TIME","ttl":N,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}}}}`
	if got = maskTimes(got); got != completed && !strings.Contains(got, `"status":"working"`) {
		t.Errorf("answering gets the response\n%s\nwant\n%s\nor that it works", got, completed)
	}

	result := v.requestJSON(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":` + id + `}}`)
	want = `{"jsonrpc":"2.0","id":3,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"RUN"}},"content":[{"type":"text","text":"A table for 4 on 2025-11-22 at 19:00"}]}}`
	if got := maskTimes(result); got != want {
		t.Errorf("the result is\n%s\nwant\n%s", got, want)
	}
}

// The server and its tools advertise tasks both as the specification does and as the
// proposal does.
func TestTasksAreAdvertisedInBothSpellings(t *testing.T) {
	r := newTaskServer(t, bookDinner, helloPhoton)
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{}`)
	v.session = ""
	said := v.requestJSON(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`)
	if got, want := jsonMember(t, said, "result", "capabilities", "tasks"), `{"cancel":{},"requests":{"tools":{"call":{}},"tools.call":true}}`; got != want {
		t.Errorf("the capability is %s, want %s: nobody is identified, so that there is no list", got, want)
	}
	v = newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{}`)
	tools := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, want := range []string{`"taskHint":"always"`, `"execution":{"taskSupport":"optional"}`} {
		if !strings.Contains(tools, want) {
			t.Errorf("the tools are %s, without %s", tools, want)
		}
	}
	if n := strings.Count(tools, "taskHint"); n != 1 {
		t.Errorf("%d tools prefer to be tasks, want one", n)
	}
	for _, version := range []string{"2025-03-26", "2025-06-18"} {
		v := newHTTPClient(t, r.startHTTPServer(t).URL, version, `{}`)
		if tools := v.requestJSON(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(tools, "task") {
			t.Errorf("in %s the tools are %s, with a word of tasks", version, tools)
		}
	}
}
