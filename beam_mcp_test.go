package beam_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// paint makes artifacts of all sorts: small ones, and one that no result can carry.
var paint = generators.New("paint", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(generators.File("notes.csv", "text/csv", []byte("a,b\n1,2\n")))
	yield(generators.File("data.bin", "application/octet-stream", []byte{0, 1, 2}))
	yield(generators.File("large.bin", "application/octet-stream", make([]byte, 5<<20)))
	return "done", nil
}, nil)

// extend adds to mcp-go's server what no photon is, and keeps the server.
func extend(kept **server.MCPServer) func(*server.MCPServer) {
	return func(s *server.MCPServer) {
		*kept = s
		s.AddPrompt(mcpgo.NewPrompt("review", mcpgo.WithArgument("file", mcpgo.RequiredArgument())),
			func(_ context.Context, r mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
				return mcpgo.NewGetPromptResult("", []mcpgo.PromptMessage{mcpgo.NewPromptMessage(mcpgo.RoleUser, mcpgo.NewTextContent("Review "+r.Params.Arguments["file"]))}), nil
			})
		s.AddResource(mcpgo.NewResource("team://handbook", "Handbook"), text("Be kind."))
		s.AddResourceTemplate(mcpgo.NewResourceTemplate("team://people/{name}", "A person"), func(_ context.Context, r mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
			if strings.HasSuffix(r.Params.URI, "/nobody") {
				return nil, server.ErrResourceNotFound
			}
			return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: r.Params.URI, Text: "a person"}}, nil
		})
		server.WithCompletions()(s)
		server.WithPromptCompletionProvider(fileNames{})(s)
	}
}

func text(s string) server.ResourceHandlerFunc {
	return func(_ context.Context, r mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: r.Params.URI, Text: s}}, nil
	}
}

type fileNames struct{}

func (fileNames) CompletePromptArgument(_ context.Context, _ string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	return &mcpgo.Completion{Values: []string{a.Value + ".go"}}, nil
}

// changes are the notifications that a client has received.
type changes struct {
	mu   sync.Mutex
	seen map[string]int
	more chan struct{}
}

func newChanges() *changes { return &changes{seen: map[string]int{}, more: make(chan struct{}, 100)} }

func (c *changes) note(method string) {
	c.mu.Lock()
	c.seen[method]++
	c.mu.Unlock()
	c.more <- struct{}{}
}

// await waits for a notification.
func (c *changes) await(t *testing.T, method string) {
	t.Helper()
	for {
		c.mu.Lock()
		n := c.seen[method]
		c.mu.Unlock()
		if n > 0 {
			return
		}
		select {
		case <-c.more:
		case <-time.After(programtest.WaitTimeout):
			t.Fatalf("the client was not notified: %s", method)
		}
	}
}

// connectGoSDK connects the official Go client over a pair of pipes.
func connectGoSDK(t *testing.T, b *beam.Beam, c *changes) *mcp.ClientSession {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- b.ServeStdio(context.Background(), serverIn, serverOut); serverOut.Close() }()
	sdk := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { c.note("prompts") },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { c.note("resources") },
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.note(r.Params.URI) },
	})
	session, err := sdk.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-served; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	return session
}

func TestMCPServesWhatTheProgramAdds(t *testing.T) {
	var library *server.MCPServer
	b := newBeam(t, beam.Config{Photons: []*generators.Photon{paint}, MCP: extend(&library)})
	seen := newChanges()
	s := connectGoSDK(t, b, seen)

	prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "review", Arguments: map[string]string{"file": "main.go"}})
	if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Review main.go" {
		t.Errorf("the prompt is %+v, %v", prompt, err)
	}
	completion, err := s.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "review"}, Argument: mcp.CompleteParamsArgument{Name: "file", Value: "ma"}})
	if err != nil || completion.Completion.Values[0] != "ma.go" {
		t.Errorf("the completion is %+v, %v", completion, err)
	}
	for uri, want := range map[string]string{"team://handbook": "Be kind.", "team://people/ada": "a person"} {
		if r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || r.Contents[0].Text != want {
			t.Errorf("%s is %+v, %v", uri, r, err)
		}
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "team://people/nobody"}); err == nil || !strings.Contains(err.Error(), "there is no resource") {
		t.Errorf("a missing resource: %v", err)
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("the templates are %+v, %v", templates, err)
	}

	library.AddPrompt(mcpgo.NewPrompt("later"), nil)
	seen.await(t, "prompts")
	library.AddResource(mcpgo.NewResource("team://news", "News"), text("none"))
	seen.await(t, "resources")
	if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "team://news"}); err != nil {
		t.Fatal(err)
	}
	library.SendNotificationToAllClients(mcpgo.MethodNotificationResourceUpdated, map[string]any{"uri": "team://news"})
	seen.await(t, "team://news")
}

func TestArtifactsAreResources(t *testing.T) {
	b := newBeam(t, beam.Config{Photons: []*generators.Photon{paint}, URL: "https://tools.example/beam", Token: testToken})
	s := connectGoSDK(t, b, newChanges())
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "paint"})
	if err != nil || result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	var run string
	for _, content := range result.Content {
		switch c := content.(type) {
		case *mcp.EmbeddedResource:
			run = strings.Split(c.Resource.URI, "/")[3]
			r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: c.Resource.URI})
			if err != nil || r.Contents[0].Text != c.Resource.Text || string(r.Contents[0].Blob) != string(c.Resource.Blob) || r.Contents[0].MIMEType != c.Resource.MIMEType {
				t.Errorf("%s is %+v, %v; the result has %+v", c.Resource.URI, r, err, c.Resource)
			}
		case *mcp.ResourceLink:
			if !strings.HasPrefix(c.URI, "https://tools.example/beam/runs/") {
				t.Errorf("the large artifact is at %s", c.URI)
			}
			uri := "beam://runs/" + strings.TrimPrefix(c.URI, "https://tools.example/beam/runs/")
			if r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || len(r.Contents[0].Blob) != 5<<20 {
				t.Errorf("%s: %v", uri, err)
			}
		}
	}
	if run == "" {
		t.Fatalf("the result has no artifact: %+v", result.Content)
	}
	for _, uri := range []string{"beam://runs/" + run + "/artifacts/1", "beam://runs/" + run + "/artifacts/0", "beam://runs/" + run + "/artifacts/-1", "beam://runs/" + run + "/artifacts/02", "beam://runs/none/artifacts/2", "beam://runs/%2e%2e/artifacts/2"} {
		if r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "there is no resource") {
			t.Errorf("%s is %+v, %v", uri, r, err)
		}
	}
}

// A question that needs a page can be asked over stdio if its address is known.
func TestQuestionsOverStdioNeedTheURL(t *testing.T) {
	for url, want := range map[string]string{
		"":                           "Config.URL",
		"/beam":                      "Config.URL",
		"https://tools.example/beam": "https://tools.example/beam/asks/",
	} {
		b := newBeam(t, beam.Config{URL: url, Token: testToken, Asks: beam.AskPolicy{Handoff: time.Millisecond}, Logger: slog.New(slog.DiscardHandler)})
		result, err := connectGoSDK(t, b, newChanges()).CallTool(t.Context(), &mcp.CallToolParams{Name: "greet"})
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, want) {
			t.Errorf("with the URL %q, the result is %q", url, text)
		}
	}
}
