package mcp_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// addSeedMessages adds messages of every kind, some of them malformed.
func addSeedMessages(add func(string)) {
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"f","version":"1"}}}`
	for _, s := range []string{
		"", "\n\n", "{", "[]", "[1,2]", "null", `"x"`,
		initialize,
		initialize + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"word"}}`,
		initialize + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":[1]}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"two",` + modernMeta(`{"elicitation":{"url":{},"form":{}},"sampling":{}}`, "") + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"two","requestState":"AAAA","inputResponses":{"name":7},` + modernMeta(`{}`, "") + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x"]},` + modernMeta(`{}`, "") + `}}`,
		`{"jsonrpc":"2.0","id":"1.3","result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
	} {
		add(s)
	}
}

// expectNoNewGoroutines fails the test if more goroutines are left than before.
func expectNoNewGoroutines(t *testing.T, before int) {
	t.Helper()
	if !programtest.Poll(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines were left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	}
}

// FuzzStdio checks that, whatever a client sends, every line of output is a JSON-RPC
// message, the server ends with its input, and no goroutine is left.
func FuzzStdio(f *testing.F) {
	addSeedMessages(func(s string) { f.Add([]byte(s)) })
	r := newTestServer(f, helloPhoton, twoQuestions, askingPhoton("word", ask.ForText("word", "Which word?")))
	f.Fuzz(func(t *testing.T, in []byte) {
		before := runtime.NumGoroutine()
		var out bytes.Buffer
		begun := time.Now()
		if err := r.ServeStdio(t.Context(), bytes.NewReader(in), &out, operator, func() (string, error) { return pagesOrigin, nil }); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if took := time.Since(begun); took > programtest.ExitTimeout {
			t.Errorf("the server took %s to end", took)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) || line[0] != '{' && line[0] != '[' {
				t.Errorf("the server sent %q", line)
			}
		}
		for _, open := range must(r.engine.Inbox(operator, 0)) {
			if err := r.engine.Cancel(t.Context(), operator, open.Run, "browser"); err != nil {
				t.Error(err)
			}
		}
		expectNoNewGoroutines(t, before)
	})
}

// FuzzHTTP checks that, whatever is posted, the response is JSON or events with a
// matching status, and no goroutine is left.
func FuzzHTTP(f *testing.F) {
	addSeedMessages(func(s string) {
		f.Add([]byte(s), "2025-11-25", "")
		f.Add([]byte(s), "2026-07-28", "tools/call")
	})
	r := newTestServer(f, helloPhoton, twoQuestions, askingPhoton("word", ask.ForText("word", "Which word?")))
	f.Fuzz(func(t *testing.T, body []byte, version, method string) {
		before := runtime.NumGoroutine()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header["Mcp-Protocol-Version"] = []string{version}
		req.Header["Mcp-Method"] = []string{method}
		if bytes.Contains(body, []byte("subscriptions/listen")) {
			t.Skip("waits until its client goes")
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req, operator, pagesOrigin)
		switch kind := w.Header().Get("Content-Type"); {
		case w.Code == http.StatusAccepted, kind == "text/event-stream":
		case kind == "application/json" && json.Valid(w.Body.Bytes()):
		default:
			t.Errorf("%d %s %s", w.Code, kind, w.Body)
		}
		for _, open := range must(r.engine.Inbox(operator, 0)) {
			if err := r.engine.Cancel(t.Context(), operator, open.Run, "browser"); err != nil {
				t.Error(err)
			}
		}
		expectNoNewGoroutines(t, before)
	})
}
