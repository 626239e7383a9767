package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// startHTTPServer serves the server over HTTP, as the handler that mounts it does.
func (r *testServer) startHTTPServer(t testing.TB) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.ServeHTTP(w, q, operator, pagesOrigin)
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	t.Cleanup(r.Close)
	return s
}

// An httpClient is an HTTP client with a session.
type httpClient struct {
	t       testing.TB
	url     string
	session string
	ctx     context.Context
}

func newHTTPClient(t testing.TB, url, version, caps string) *httpClient {
	t.Helper()
	v := &httpClient{t: t, url: url, ctx: t.Context()}
	r := v.postMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"v","version":"1"}}}`, version, caps))
	defer r.Body.Close()
	v.session = r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != http.StatusOK || v.session == "" {
		t.Fatalf("initialize: %s, session %q", r.Status, v.session)
	}
	return v
}

func (v *httpClient) sendRequest(method, body string, headers ...string) *http.Response {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.ctx, method, v.url, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if v.session != "" {
		r.Header.Set("Mcp-Session-Id", v.session)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	return response
}

func (v *httpClient) postMessage(body string, headers ...string) *http.Response {
	v.t.Helper()
	return v.sendRequest(http.MethodPost, body, headers...)
}

// An sseEvent is one server-sent event.
type sseEvent struct{ id, data string }

// readEvents returns a function that reads a response's next event.
func (v *httpClient) readEvents(r *http.Response) (next func() sseEvent) {
	v.t.Helper()
	if kind := r.Header.Get("Content-Type"); kind != "text/event-stream" {
		raw, _ := io.ReadAll(r.Body)
		v.t.Fatalf("%s %s %s, want a stream", r.Status, kind, raw)
	}
	v.t.Cleanup(func() { r.Body.Close() })
	lines := bufio.NewReader(r.Body)
	return func() sseEvent {
		v.t.Helper()
		var e sseEvent
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				v.t.Fatal(err)
			}
			switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.data != "" {
					return e
				}
			}
		}
	}
}

func (v *httpClient) postAnswer(question, content string) {
	v.t.Helper()
	r := v.postMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":%s}}`, jsonMember(v.t, question, "id"), content))
	r.Body.Close()
	if r.StatusCode != http.StatusAccepted {
		v.t.Errorf("the answer is %s, want 202", r.Status)
	}
}

func TestImmediateResponseIsJSON(t *testing.T) {
	v := newHTTPClient(t, newTestServer(t, helloPhoton).startHTTPServer(t).URL, "2025-11-25", `{}`)
	r := v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	defer r.Body.Close()
	raw, _ := io.ReadAll(r.Body)
	if kind := r.Header.Get("Content-Type"); kind != "application/json" || string(raw) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("ping gets the response %s %s", kind, raw)
	}
}

func TestCallWithEventsIsStream(t *testing.T) {
	v := newHTTPClient(t, newTestServer(t, helloPhoton).startHTTPServer(t).URL, "2025-11-25", `{}`)
	next := v.readEvents(v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":5}}}`))
	var got []string
	for {
		e := next()
		got = append(got, jsonMember(t, e.data, "method"))
		if jsonMember(t, e.data, "id") == "1" {
			break
		}
	}
	want := `["notifications/progress" "notifications/progress" "notifications/message" "notifications/progress" ""]`
	if strings.ReplaceAll(fmt.Sprintf("%q", got), `\"`, "") != strings.ReplaceAll(want, `\"`, "") {
		t.Errorf("the stream has %q", got)
	}
}

func TestBrokenStreamIsResumed(t *testing.T) {
	v := newHTTPClient(t, newTestServer(t, askingPhoton("word", ask.ForText("word", "Which word?"))).startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	ctx, cut := context.WithCancel(t.Context())
	v.ctx = ctx
	first := v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
	next := v.readEvents(first)
	question := next()
	cut()
	v.ctx = t.Context()
	begin := strings.SplitN(question.id, ".", 2)[0] + ".0"
	again := v.readEvents(v.sendRequest(http.MethodGet, "", "Last-Event-ID", begin))
	if got := again(); got != question {
		t.Errorf("the resumed stream has %v, want %v again", got, question)
	}
	v.postAnswer(question.data, `{"word":"fish"}`)
	if got := again(); !strings.Contains(got.data, `"id":1,"result"`) || !strings.Contains(got.data, "fish") {
		t.Errorf("then got %v, want the result", got)
	}
	// A client that has received the question gets only the result.
	last := v.readEvents(v.sendRequest(http.MethodGet, "", "Last-Event-ID", question.id))
	if got := last(); !strings.Contains(got.data, `"id":1,"result"`) {
		t.Errorf("resuming after the question returns %v, want the result", got)
	}
}

func TestSessionEndsWithDelete(t *testing.T) {
	done := make(chan error, 1)
	v := newHTTPClient(t, newTestServer(t, stubbornPhoton(done)).startHTTPServer(t).URL, "2025-06-18", `{"elicitation":{}}`)
	v.readEvents(v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stubborn"}}`))()
	v.sendRequest(http.MethodDelete, "").Body.Close()
	expectGeneratorError(t, done, ask.ErrStopped)
	r := v.postMessage(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	r.Body.Close()
	if r.StatusCode != http.StatusNotFound {
		t.Errorf("after DELETE the session answers %s, want 404", r.Status)
	}
}

func TestRefusals(t *testing.T) {
	v := newHTTPClient(t, newTestServer(t, helloPhoton).startHTTPServer(t).URL, "2025-11-25", `{}`)
	nobody := &httpClient{t: t, url: v.url, ctx: t.Context()}
	stranger := &httpClient{t: t, url: v.url, ctx: t.Context(), session: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, tt := range map[string]struct {
		r    *http.Response
		want int
	}{
		"no session":             {nobody.postMessage(ping), 400},
		"another's session":      {stranger.postMessage(ping), 404},
		"no JSON":                {v.postMessage(`{`), 400},
		"another media type":     {v.postMessage(ping, "Content-Type", "text/plain"), 415},
		"nothing acceptable":     {v.postMessage(ping, "Accept", "text/html"), 406},
		"an unknown version":     {v.postMessage(ping, "MCP-Protocol-Version", "1999-01-01"), 400},
		"a batch":                {v.postMessage(`[` + ping + `]`), 400},
		"a put":                  {v.sendRequest(http.MethodPut, ping), 405},
		"a cursor of nothing":    {v.sendRequest(http.MethodGet, "", "Last-Event-ID", "x.1"), 400},
		"a modern GET":           {v.sendRequest(http.MethodGet, "", "MCP-Protocol-Version", "2026-07-28"), 405},
		"headers of another":     {nobody.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta(`{}`, "")+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "prompts/list"), 400},
		"a modern method of old": {nobody.postMessage(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{`+modernMeta(`{}`, "")+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "ping"), 404},
	} {
		raw, _ := io.ReadAll(tt.r.Body)
		tt.r.Body.Close()
		if tt.r.StatusCode != tt.want || !strings.Contains(string(raw), `"error"`) {
			t.Errorf("%s: %s %s, want %d and an error", name, tt.r.Status, raw, tt.want)
		}
	}
}

// A modern client that closes the response to its request cancels it: nobody could
// resume its run.
func TestClosedResponseCancelsModernRun(t *testing.T) {
	done := make(chan error, 1)
	busy := generators.New("busy", func(ctx context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Status("busy"))
		<-ctx.Done()
		done <- context.Cause(ctx)
		return "", ctx.Err()
	}, nil)
	v := &httpClient{t: t, url: newTestServer(t, busy).startHTTPServer(t).URL}
	ctx, cut := context.WithCancel(t.Context())
	v.ctx = ctx
	next := v.readEvents(v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"busy",`+modernMeta(`{}`, `,"progressToken":1`)+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "busy"))
	next()
	cut()
	expectGeneratorError(t, done, generators.ErrStopped)
}
