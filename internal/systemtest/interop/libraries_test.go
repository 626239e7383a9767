//lint:file-ignore SA1019 sampling, roots and the GET stream are deprecated, and served as long as there are clients for them

package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os/exec"
	"testing"

	lib "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	libtypes "github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A libraryClient is a library's session with the program.
type libraryClient interface {
	listTools(ctx context.Context) ([]string, error)
	callTool(ctx context.Context, tool string, args map[string]any, token any) (*toolResult, error)
}

// A toolResult is the result of a tool.
type toolResult struct {
	Content []struct {
		Type, Text string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// text returns the text of the last content block.
func (r *toolResult) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[len(r.Content)-1].Text
}

func convertResult(v any, err error) (*toolResult, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var r toolResult
	return &r, json.Unmarshal(raw, &r)
}

// A clientLibrary connects to the program: over stdio, if there is no host. It closes
// the connection with the test.
type clientLibrary struct {
	name    string
	connect func(t *testing.T, h *programServer, c *programtest.Console, version string, p *person) libraryClient
	// sendsNoCancel: it tells nobody over HTTP that it gave a call up, before
	// 2026-07-28.
	sendsNoCancel bool
}

var clientLibraries = []clientLibrary{
	{"go-sdk", connectGoSDK, false},
	{"mcp-go", connectMCPGo, true},
}

type mcpGoClient struct{ *lib.Client }

func connectMCPGo(t *testing.T, h *programServer, c *programtest.Console, version string, p *person) libraryClient {
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
		o = append(o, lib.WithElicitationHandler(elicitationHandler{p}))
	}
	if p.sampling {
		caps.Sampling = &libtypes.SamplingCapability{}
		o = append(o, lib.WithSamplingHandler(samplingHandler{}))
	}
	if p.roots {
		o = append(o, lib.WithRootsHandler(rootsHandler{}))
	}
	var to transport.Interface = transport.NewStdioWithOptions(programPath, nil, []string{"stdio", "--memory"},
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
		if version != version20260728 { // it would not request that version
			o = append(o, transport.WithContinuousListening())
		}
		if to, err = transport.NewStreamableHTTP(h.url, o...); err != nil {
			t.Fatal(err)
		}
	}
	session := lib.NewClient(to, o...)
	session.OnNotification(p.handleNotification)
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v\n%s", err, c)
		}
		expectNoRace(t, c)
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
	return mcpGoClient{session}
}

func (c mcpGoClient) listTools(ctx context.Context) (names []string, err error) {
	list, err := c.ListTools(ctx, libtypes.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c mcpGoClient) callTool(ctx context.Context, tool string, args map[string]any, token any) (*toolResult, error) {
	r := libtypes.CallToolRequest{}
	r.Params.Name = tool
	if args != nil {
		r.Params.Arguments = args
	}
	if token != nil {
		r.Params.Meta = &libtypes.Meta{ProgressToken: token}
	}
	return convertResult(c.CallTool(ctx, r))
}

// handleNotification receives every notification from mcp-go.
func (p *person) handleNotification(n libtypes.JSONRPCNotification) {
	get := func(name string) any { return n.Params.AdditionalFields[name] }
	switch n.Method {
	case "notifications/progress":
		done, _ := get("progress").(float64)
		total, _ := get("total").(float64)
		message, _ := get("message").(string)
		p.reportProgress(progress{get("progressToken"), done, total, message})
	}
}

type elicitationHandler struct{ *person }

func (p elicitationHandler) Elicit(ctx context.Context, r libtypes.ElicitationRequest) (*libtypes.ElicitationResult, error) {
	a, err := p.answerQuestion(ctx, r.Params.Mode, r.Params.Message, r.Params.URL, r.Params.RequestedSchema)
	result := &libtypes.ElicitationResult{}
	result.Action = libtypes.ElicitationResponseAction(a.Action)
	if a.Content != nil {
		result.Content = a.Content
	}
	return result, err
}

type samplingHandler struct{}

func (samplingHandler) CreateMessage(context.Context, libtypes.CreateMessageRequest) (*libtypes.CreateMessageResult, error) {
	r := &libtypes.CreateMessageResult{Model: "oracle"}
	r.Role, r.Content = "assistant", libtypes.NewTextContent("Paris")
	return r, nil
}

type rootsHandler struct{}

func (rootsHandler) ListRoots(context.Context, libtypes.ListRootsRequest) (*libtypes.ListRootsResult, error) {
	return &libtypes.ListRootsResult{Roots: []libtypes.Root{{URI: "file:///srv/data", Name: "data"}}}, nil
}
