package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// postModern posts a request of 2026-07-28, and returns its status and response.
func (v *httpClient) postModern(method, params, caps string) (status int, body string) {
	v.t.Helper()
	r := v.postMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+modernMeta(caps, "")+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return r.StatusCode, string(raw)
}

// 2026-07-28 has no logging/setLevel, and no cursors but those that a list returned.
func TestSpecifiedErrorsOverHTTP(t *testing.T) {
	v := &httpClient{t: t, url: newTestServer(t, wordPhoton).startHTTPServer(t).URL, ctx: t.Context()}
	for _, tt := range []struct {
		method, params string
		status         int
		code           string
	}{
		{"logging/setLevel", `"level":"info",`, http.StatusNotFound, "-32601"},
		{"tools/list", `"cursor":"nonsense",`, http.StatusBadRequest, "-32602"},
		{"tools/list", `"cursor":7,`, http.StatusBadRequest, "-32602"},
		{"resources/list", `"cursor":"!",`, http.StatusBadRequest, "-32602"},
	} {
		status, body := v.postModern(tt.method, tt.params, `{}`)
		if status != tt.status || jsonMember(t, body, "error", "code") != tt.code {
			t.Errorf("%s with %s gets %d %s, want %d and %s", tt.method, tt.params, status, body, tt.status, tt.code)
		}
	}
}

// The list of tools depends on what the client declared, so that no cache may share it.
func TestToolListIsPrivate(t *testing.T) {
	v := &httpClient{t: t, url: newLinkingServer(t, wordPhoton).startHTTPServer(t).URL, ctx: t.Context()}
	_, plain := v.postModern("tools/list", "", `{}`)
	_, asked := v.postModern("tools/list", "", `{"elicitation":{}}`)
	if plain == asked || !strings.Contains(asked, "outputSchema") {
		t.Errorf("the list does not depend on what the client declared: %s", asked)
	}
	for _, list := range []string{plain, asked} {
		if jsonMember(t, list, "result", "cacheScope") != `"private"` {
			t.Errorf("the list is %s, want it private", list)
		}
	}
}
