//lint:file-ignore SA1019 sampling, roots and the GET stream are deprecated, and served as long as there are clients for them

package interop_test

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

type goSDKClient struct{ *mcp.ClientSession }

func connectGoSDK(t *testing.T, h *programServer, c *programtest.Console, version string, p *person) libraryClient {
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
			a, err := p.answerQuestion(ctx, r.Params.Mode, r.Params.Message, r.Params.URL, r.Params.RequestedSchema)
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
		p.reportProgress(progress{r.Params.ProgressToken, r.Params.Progress, r.Params.Total, r.Params.Message})
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
		if took := time.Since(begun); h == nil && took > programtest.ExitTimeout {
			t.Errorf("the program ended %v after its input", took)
		}
		expectNoRace(t, c)
	})
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("they agreed on protocol version %s, want %s", got, version)
	}
	return goSDKClient{session}
}

func (c goSDKClient) listTools(ctx context.Context) (names []string, err error) {
	for tool, err := range c.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c goSDKClient) callTool(ctx context.Context, tool string, args map[string]any, token any) (*toolResult, error) {
	p := &mcp.CallToolParams{Name: tool}
	if args != nil {
		p.Arguments = args
	}
	if token != nil {
		p.SetProgressToken(token)
	}
	return convertResult(c.CallTool(ctx, p))
}
