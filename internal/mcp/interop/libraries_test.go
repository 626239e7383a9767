//lint:file-ignore SA1019 sampling, roots and the GET stream are deprecated, and served as long as there are clients for them

package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os/exec"
	"testing"
	"time"

	lib "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	libtypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/programtest"
)

// A client is a library's session with the program.
type client interface {
	tools(ctx context.Context) ([]string, error)
	call(ctx context.Context, tool string, args map[string]any, token any) (*result, error)
}

// A result is that of a tool.
type result struct {
	Content []struct {
		Type, Text string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// text is what the result says last.
func (r *result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[len(r.Content)-1].Text
}

func resultOf(v any, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var r result
	return &r, json.Unmarshal(raw, &r)
}

// A library connects to the program: over stdio, if there is no host. It closes
// the connection with the test.
type library struct {
	name string
	dial func(t *testing.T, h *host, c *programtest.Console, version string, p *person) client
	// noCancel: it tells nobody over HTTP that it gave a call up, before
	// 2026-07-28.
	noCancel bool
}

var libraries = []library{
	{"go-sdk", dialGoSDK, false},
	{"mcp-go", dialMCPGo, true},
}

type goSDK struct{ *mcp.ClientSession }

func dialGoSDK(t *testing.T, h *host, c *programtest.Console, version string, p *person) client {
	t.Helper()
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if p.forms || p.urls {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{}
		if p.forms {
			o.Capabilities.Elicitation.Form = &mcp.FormElicitationCapabilities{}
		}
		if p.urls {
			o.Capabilities.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
		o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			a, err := p.ask(ctx, r.Params.Mode, r.Params.Message, r.Params.URL, r.Params.RequestedSchema)
			return &mcp.ElicitResult{Action: a.Action, Content: a.Content}, err
		}
	}
	if p.sampling {
		o.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "oracle", Content: &mcp.TextContent{Text: "Paris"}}, nil
		}
	}
	if p.roots {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
	o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		p.tell(progress{r.Params.ProgressToken, r.Params.Progress, r.Params.Total, r.Params.Message})
	}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, o)
	if p.roots {
		sdk.AddRoots(&mcp.Root{URI: "file:///srv/data", Name: "data"})
	}
	var to mcp.Transport = &mcp.CommandTransport{Command: stdioCommand(c)}
	if h != nil {
		to = &mcp.StreamableClientTransport{Endpoint: h.url}
	}
	session, err := sdk.Connect(t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, c)
	}
	t.Cleanup(func() {
		begun := time.Now()
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v\n%s", err, c)
		}
		if took := time.Since(begun); h == nil && took > 2*time.Second {
			t.Errorf("the program ended %v after its input", took)
		}
		noRace(t, c)
	})
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("they agreed on protocol version %s, want %s", got, version)
	}
	return goSDK{session}
}

func (c goSDK) tools(ctx context.Context) (names []string, err error) {
	for tool, err := range c.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c goSDK) call(ctx context.Context, tool string, args map[string]any, token any) (*result, error) {
	p := &mcp.CallToolParams{Name: tool}
	if args != nil {
		p.Arguments = args
	}
	if token != nil {
		p.SetProgressToken(token)
	}
	return resultOf(c.CallTool(ctx, p))
}

type mcpGo struct{ *lib.Client }

func dialMCPGo(t *testing.T, h *host, c *programtest.Console, version string, p *person) client {
	t.Helper()
	// Unbounded: on a busy machine, a program that starts slowly would be taken
	// for one of the older versions.
	o := []lib.ClientOption{lib.WithProtocolVersion(version), lib.WithDiscoverTimeout(-1)}
	var caps libtypes.ClientCapabilities
	if p.forms || p.urls {
		caps.Elicitation = &libtypes.ElicitationCapability{}
		if p.forms {
			caps.Elicitation.Form = &struct{}{}
		}
		if p.urls {
			caps.Elicitation.URL = &struct{}{}
		}
		o = append(o, lib.WithElicitationHandler(elicits{p}))
	}
	if p.sampling {
		caps.Sampling = &libtypes.SamplingCapability{}
		o = append(o, lib.WithSamplingHandler(samples{}))
	}
	if p.roots {
		o = append(o, lib.WithRootsHandler(roots{}))
	}
	var to transport.Interface = transport.NewStdioWithOptions(program, nil, []string{"stdio", "--memory"},
		transport.WithCommandFunc(func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			return stdioCommand(c), nil
		}))
	if h != nil {
		var err error
		o := []transport.StreamableHTTPCOption{
			transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
			// It ends the request that carries an answer when the call is over,
			// perhaps in the moment of that request's response. net/http then
			// closes a connection that another request may have taken, whose
			// answer is lost.
			transport.WithHTTPBasicClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		}
		if version != july2026 { // it would not ask for that version
			o = append(o, transport.WithContinuousListening())
		}
		if to, err = transport.NewStreamableHTTP(h.url, o...); err != nil {
			t.Fatal(err)
		}
	}
	session := lib.NewClient(to, o...)
	session.OnNotification(p.notified)
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v\n%s", err, c)
		}
		noRace(t, c)
	})
	init := libtypes.InitializeRequest{Params: libtypes.InitializeParams{
		ProtocolVersion: version, Capabilities: caps, ClientInfo: libtypes.Implementation{Name: "mcp-go", Version: "1"},
	}}
	if _, err := session.Initialize(t.Context(), init); err != nil {
		t.Fatalf("connecting: %v\n%s", err, c)
	}
	if got := session.ProtocolVersion(); got != version {
		t.Fatalf("they agreed on protocol version %s, want %s", got, version)
	}
	return mcpGo{session}
}

func (c mcpGo) tools(ctx context.Context) (names []string, err error) {
	list, err := c.ListTools(ctx, libtypes.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c mcpGo) call(ctx context.Context, tool string, args map[string]any, token any) (*result, error) {
	r := libtypes.CallToolRequest{}
	r.Params.Name = tool
	if args != nil {
		r.Params.Arguments = args
	}
	if token != nil {
		r.Params.Meta = &libtypes.Meta{ProgressToken: token}
	}
	return resultOf(c.CallTool(ctx, r))
}

// notified is told every notification by mcp-go.
func (p *person) notified(n libtypes.JSONRPCNotification) {
	get := func(name string) any { return n.Params.AdditionalFields[name] }
	switch n.Method {
	case "notifications/progress":
		done, _ := get("progress").(float64)
		total, _ := get("total").(float64)
		message, _ := get("message").(string)
		p.tell(progress{get("progressToken"), done, total, message})
	}
}

type elicits struct{ *person }

func (p elicits) Elicit(ctx context.Context, r libtypes.ElicitationRequest) (*libtypes.ElicitationResult, error) {
	a, err := p.ask(ctx, r.Params.Mode, r.Params.Message, r.Params.URL, r.Params.RequestedSchema)
	result := &libtypes.ElicitationResult{}
	result.Action = libtypes.ElicitationResponseAction(a.Action)
	if a.Content != nil {
		result.Content = a.Content
	}
	return result, err
}

type samples struct{}

func (samples) CreateMessage(context.Context, libtypes.CreateMessageRequest) (*libtypes.CreateMessageResult, error) {
	r := &libtypes.CreateMessageResult{Model: "oracle"}
	r.Role, r.Content = "assistant", libtypes.NewTextContent("Paris")
	return r, nil
}

type roots struct{}

func (roots) ListRoots(context.Context, libtypes.ListRootsRequest) (*libtypes.ListRootsResult, error) {
	return &libtypes.ListRootsResult{Roots: []libtypes.Root{{URI: "file:///srv/data", Name: "data"}}}, nil
}
