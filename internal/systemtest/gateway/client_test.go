//lint:file-ignore SA1019 sampling and roots are deprecated, and tested as long as there are servers that use them

package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A person answers questions.
type person func(*mcp.ElicitParams) *mcp.ElicitResult

// accept answers every question with the same content, of what its form has.
func accept(content map[string]any) person {
	return func(p *mcp.ElicitParams) *mcp.ElicitResult {
		if p.Mode == "url" {
			return &mcp.ElicitResult{Action: "accept"}
		}
		raw, _ := json.Marshal(p.RequestedSchema)
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(raw, &schema) // a schema that is none has no properties
		answer := map[string]any{}
		for name, value := range content {
			if schema.Properties[name] != nil {
				answer[name] = value
			}
		}
		return &mcp.ElicitResult{Action: "accept", Content: answer}
	}
}

// connect connects the official client to an MCP server, which closes with the test.
func connect(t testing.TB, to mcp.Transport, version string, p person) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return p(r.Params), nil },
		CreateMessageWithToolsHandler: func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "oracle", Content: []mcp.Content{&mcp.TextContent{Text: "Paris"}}}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///srv/data", Name: "data"})
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	session, err := client.Connect(ctx, to, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// connect connects the official client to the gateway.
func (g *gateway) connect(version string, p person) *mcp.ClientSession {
	g.t.Helper()
	return connect(g.t, &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp"}, version, p)
}

// call calls a tool, and returns its result as text, or the error's text. It gives up
// after within.
func call(t testing.TB, session *mcp.ClientSession, within time.Duration, tool string, arguments any) (text string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), result.IsError
}

// awaitTools waits until all the named tools are listed.
func awaitTools(t testing.TB, session *mcp.ClientSession, names ...string) map[string]*mcp.Tool {
	t.Helper()
	var found map[string]*mcp.Tool
	var missing []string
	areListed := func() bool {
		found, missing = map[string]*mcp.Tool{}, nil
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			found[tool.Name] = tool
		}
		for _, name := range names {
			if found[name] == nil {
				missing = append(missing, name)
			}
		}
		return missing == nil
	}
	if !programtest.Poll(areListed) {
		t.Fatalf("%s are not listed", strings.Join(missing, ", "))
	}
	return found
}
