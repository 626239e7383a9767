package beam_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// drop asks whether to do what can't be undone.
var drop = generators.New("drop", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
	return ask.Confirm(yield, "ok", "Drop it?", ask.Destructive())
}, &generators.Options{Asks: true})

// callInChat calls a tool as a client that shows MCP Apps, and returns the response.
func callInChat(t *testing.T, url, tool, arguments string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},"io.modelcontextprotocol/clientInfo":{"name":"chat","version":"1"}}}}`, tool, arguments)
	res, text := newBrowser(t, url).do("POST", "/mcp", body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", tool, res.Status, text)
	}
	return text
}

// submatch returns the first text of a pattern's group.
func submatch(t *testing.T, pattern, text string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no %s in %s", pattern, text)
	}
	return m[1]
}

// TestAppsDestructive checks whether a chat answers what can't be undone: only if the
// program says so.
func TestAppsDestructive(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		url := serve(t, newBeam(t, beam.Config{Photons: []*generators.Photon{drop}, Asks: beam.AskPolicy{AppsDestructive: allowed}}))
		run := submatch(t, `"beam_run":"([0-9a-f]+)"`, callInChat(t, url, "drop", `{}`))
		question := submatch(t, `"id":"([0-9a-f]+\.[0-9]+)"`, callInChat(t, url, "beam_app_read", fmt.Sprintf(`{"run":%q}`, run)))
		answered := callInChat(t, url, "beam_app_act", fmt.Sprintf(`{"run":%q,"action":"accept","ask":%q,"values":{"ok":["true"]}}`, run, question))
		if refused := regexp.MustCompile(`"isError":true`).MatchString(answered); refused == allowed {
			t.Errorf("allowed %t: answering returns %s", allowed, answered)
		}
	}
}
