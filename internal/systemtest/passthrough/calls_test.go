//lint:file-ignore SA1019 logging is deprecated, and served as long as there are clients for it

package passthrough_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Progress and logs of an upstream come in order and before the result, progress under
// the client's own token.
func TestProgressAndLogsComeInOrder(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		for _, down := range []string{v20251125, v20260728} {
			p := &person{}
			s := g.connect(t, clientOptions{version: down}, p)
			params := &mcp.CallToolParams{Name: "test__progress", Arguments: map[string]any{"steps": 20, "delay": 1}}
			params.SetProgressToken("my token")
			if _, err := s.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range 20 {
				want = append(want, fmt.Sprintf(`progress "my token" Step %d of 20`, i+1))
			}
			if got := p.awaitEvents(len(want)); !slices.Equal(got, want) {
				t.Errorf("%s to %s: the client gets\n%s", up, down, strings.Join(got, "\n"))
			}
			if down != v20251125 || up != v20251125 {
				continue
			}
			if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
				t.Fatal(err)
			}
			call(t, s, "test__log", nil)
			want = nil
			for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
				want = append(want, fmt.Sprintf(`log %s "a message of level %s"`, level, level))
			}
			if got := p.awaitEvents(len(want)); !slices.Equal(got, want) {
				t.Errorf("the client gets the logs\n%s", strings.Join(got, "\n"))
			}
		}
	}
}

// awaitEvents takes the events once there are so many: the official client handles
// notifications on goroutines of their own.
func (p *person) awaitEvents(n int) []string {
	programtest.Poll(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.events) >= n
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	events := p.events
	p.events = nil
	return events
}

// A client that cancels its call cancels the upstream's, which stops at once.
func TestCancellationReachesTheUpstream(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		operator := signIn(t, g.SignInURL())
		for n, down := range []string{v20251125, v20260728} {
			s := g.connect(t, clientOptions{version: down}, &person{})
			ctx, cancel := context.WithCancel(t.Context())
			called := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "test__slow", Arguments: map[string]any{"ms": 600_000}})
				called <- err
			}()
			awaitState(t, operator, g.url, n+1, "running")
			cancel()
			if err := <-called; err == nil {
				t.Errorf("%s to %s: the call succeeded", up, down)
			}
			awaitState(t, operator, g.url, n+1, "stopped")
		}
	}
}

// awaitState waits until there are n runs, and the latest is in a state.
func awaitState(t testing.TB, browser *http.Client, beamURL string, n int, state string) {
	t.Helper()
	var list struct {
		Runs []struct {
			State string `json:"state"`
		} `json:"runs"`
	}
	isThere := func() bool {
		r, err := http.NewRequest(http.MethodGet, beamURL+"/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(response.Body).Decode(&list)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Runs) == n && list.Runs[0].State == state
	}
	if !programtest.Poll(isThere) {
		t.Errorf("the runs are %+v, want %d, the first of them %s", list.Runs, n, state)
	}
}

// token is that of gateways that need one.
const token = "the-token-of-the-tests"

// The endpoint of a single upstream is as well guarded as that of all.
func TestTheEndpointOfASingleUpstream(t *testing.T) {
	g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, ""), "other": serveTestServer(t, "")})}})
	for _, version := range []string{v20250618, v20251125, v20260728} {
		p := &person{answer: agree}
		s := g.connect(t, clientOptions{version: version, forms: true, path: "/mcp/u/test"}, p)
		names := map[string]bool{}
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names[tool.Name] = true
		}
		if !names["ask_text"] || names["beam_resume"] || names["test__ask_text"] || names["other__ask_text"] {
			t.Errorf("%s: the tools are %v", version, names)
		}
		if _, text := call(t, s, "ask_text", nil); !strings.Contains(text, `"text": "Ada"`) {
			t.Errorf("%s: the result is %s", version, text)
		}
	}
	secured := newGateway(t, beam.Config{Token: token, Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, "")})}})
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for _, tt := range []struct {
		name, path string
		headers    []string
		status     int
	}{
		{"with the token", "/mcp/u/test", []string{"Authorization", "Bearer " + token}, 200},
		{"without the token", "/mcp/u/test", nil, 401},
		{"another site", "/mcp/u/test", []string{"Authorization", "Bearer " + token, "Origin", "https://evil.example"}, 403},
		{"another site's page", "/mcp/u/test", []string{"Authorization", "Bearer " + token, "Sec-Fetch-Site", "cross-site"}, 403},
		{"another host", "/mcp/u/test", []string{"Authorization", "Bearer " + token, "Host", "evil.example"}, 403},
		{"no such upstream", "/mcp/u/none", []string{"Authorization", "Bearer " + token}, 404},
	} {
		r, err := http.NewRequest(http.MethodPost, secured.url+tt.path, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(tt.headers); i += 2 {
			if tt.headers[i] == "Host" {
				r.Host = tt.headers[i+1]
			}
			r.Header.Set(tt.headers[i], tt.headers[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, response.StatusCode, tt.status)
		}
	}
}

// A resource that asks while it is read, and a prompt, ask through the gateway as a tool
// does; changes of lists and resources are announced.
func TestResourcesPromptsAndChanges(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		for _, down := range []string{v20251125, v20260728} {
			p := &person{answer: agree}
			s := g.connect(t, clientOptions{version: down, forms: true}, p)
			resource, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://asking"})
			if err != nil || len(resource.Contents) != 1 || len(p.takeAsked()) != 1 {
				t.Errorf("%s to %s: the resource is %+v, %v", up, down, resource, err)
			}
			prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "test__asking"})
			if err != nil || len(prompt.Messages) == 0 || len(p.takeAsked()) != 1 {
				t.Errorf("%s to %s: the prompt is %+v, %v", up, down, prompt, err)
			}
			if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://failing"}); err == nil {
				t.Errorf("%s to %s: a resource that fails is read", up, down)
			}
			call(t, s, "test__ask_confirm", nil)
		}
	}
}
