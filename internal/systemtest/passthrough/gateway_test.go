//lint:file-ignore SA1019 logging is deprecated, and served as long as there are clients for it

package passthrough_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/testserver"
)

const (
	v20250618 = "2025-06-18"
	v20251125 = "2025-11-25"
	v20260728 = "2026-07-28"
)

// configFile writes a file that names servers, as MCP clients have it.
func configFile(t testing.TB, servers map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// serveTestServer serves the test server over HTTP, in one version, or all if version is
// empty.
func serveTestServer(t testing.TB, version string) map[string]any {
	t.Helper()
	return serveTestServerWith(t, testserver.Options{Protocol: version})
}

func serveTestServerWith(t testing.TB, o testserver.Options) map[string]any {
	t.Helper()
	o.Stderr, o.Exit = t.Output(), func(int) {}
	s, err := testserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return map[string]any{"url": h.URL}
}

// A gateway is a Beam with upstreams, or photons, and its pages.
type gateway struct {
	*beam.Beam
	url string
}

func newGateway(t testing.TB, c beam.Config) gateway {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	c.URL = "http://" + h.Listener.Addr().String()
	b, err := beam.New(c)
	if err != nil {
		t.Fatal(err)
	}
	h.Config.Handler = b
	h.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = b.Shutdown(ctx)
		h.CloseClientConnections()
		h.Close()
	})
	g := gateway{b, c.URL}
	if len(c.Upstreams) > 0 {
		g.awaitUpstreams(t)
	}
	return g
}

// awaitUpstreams waits until no upstream is being connected: beam.New waits for a few seconds
// only, and clients are told of what comes later.
func (g gateway) awaitUpstreams(t testing.TB) {
	t.Helper()
	operator := signIn(t, g.SignInURL())
	var all string
	if !programtest.Poll(func() bool {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", g.url+"/upstreams", nil)
		request.Header.Set("Accept", "application/json")
		r, err := operator.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		raw, err := io.ReadAll(r.Body)
		if all = string(raw); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("the upstreams: %s, %s, %v", r.Status, all, err)
		}
		return !strings.Contains(all, `"state":"connecting"`) && !strings.Contains(all, `"state":"waiting"`)
	}) {
		t.Fatalf("not all upstreams are connected: %s", all)
	}
}

// signIn returns a browser that is signed in at an address of a Beam.
func signIn(t testing.TB, address string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: programtest.WaitTimeout}
	r, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return browser
}

// A person answers what the client asks, and records it.
type person struct {
	mu     sync.Mutex
	asked  []*mcp.ElicitParams
	answer func(*mcp.ElicitParams) *mcp.ElicitResult
	events []string // progress and logs, in order
}

func (p *person) elicit(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Params)
	return p.answer(r.Params), nil
}

func (p *person) note(event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, event)
}

func (p *person) takeAsked() []*mcp.ElicitParams {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// agree accepts what is asked.
func agree(q *mcp.ElicitParams) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: contentFor(q.RequestedSchema)}
}

// contentFor returns an answer to a form: a value of each required field.
func contentFor(schema any) map[string]any {
	raw, _ := json.Marshal(schema)
	var form struct {
		Properties map[string]struct {
			Type  string `json:"type"`
			OneOf []struct {
				Const any `json:"const"`
			} `json:"oneOf"`
			Enum []any `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(raw, &form) != nil || form.Properties == nil {
		return nil
	}
	content := map[string]any{}
	for _, name := range form.Required {
		switch f := form.Properties[name]; {
		case len(f.OneOf) > 0:
			content[name] = f.OneOf[0].Const
		case len(f.Enum) > 0:
			content[name] = f.Enum[0]
		case f.Type == "boolean":
			content[name] = true
		case f.Type == "integer", f.Type == "number":
			content[name] = 7
		default:
			content[name] = "Ada"
		}
	}
	return content
}

// clientOptions says what a client can do.
type clientOptions struct {
	version string
	forms   bool
	urls    bool
	stdio   bool
	path    string // of the endpoint; "/mcp" if it is empty
}

// connect connects an official client, in front of which the person sits.
func (g gateway) connect(t testing.TB, o clientOptions, p *person) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if o.forms || o.urls {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{}
		options.ElicitationHandler = p.elicit
	}
	if o.forms {
		options.Capabilities.Elicitation.Form = &mcp.FormElicitationCapabilities{}
	}
	if o.urls {
		options.Capabilities.Elicitation.URL = &mcp.URLElicitationCapabilities{}
	}
	options.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		token, _ := json.Marshal(r.Params.ProgressToken)
		p.note("progress " + string(token) + " " + r.Params.Message)
	}
	options.LoggingMessageHandler = func(_ context.Context, r *mcp.LoggingMessageRequest) {
		data, _ := json.Marshal(r.Params.Data)
		p.note("log " + string(r.Params.Level) + " " + string(data))
	}
	options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { p.note("tools changed") }
	options.ResourceListChangedHandler = func(context.Context, *mcp.ResourceListChangedRequest) { p.note("resources changed") }
	options.PromptListChangedHandler = func(context.Context, *mcp.PromptListChangedRequest) { p.note("prompts changed") }
	options.ResourceUpdatedHandler = func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { p.note("updated " + r.Params.URI) }
	client := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, options)
	if o.path == "" {
		o.path = "/mcp"
	}
	var to mcp.Transport = &mcp.StreamableClientTransport{Endpoint: g.url + o.path}
	if o.stdio {
		fromServer, toClient := io.Pipe()
		fromClient, toServer := io.Pipe()
		go func() { toClient.CloseWithError(g.ServeStdio(t.Context(), fromClient, toClient)) }()
		to = &mcp.IOTransport{Reader: fromServer, Writer: toServer, MaxLineLength: -1}
	}
	session, err := client.Connect(t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: o.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call calls a tool and returns the texts of its result.
func call(t testing.TB, s *mcp.ClientSession, tool string, args map[string]any) (*mcp.CallToolResult, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var texts []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return r, strings.Join(texts, "\n")
}
