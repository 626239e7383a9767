package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

const nameSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

func askAndGreet(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(generators.Progress(1, 2, "asking"))
	name, err := ask.Text(yield, "name", "Who are you?")
	return "Hello, " + name + "!", err
}

// serveGoSDK serves the tool greet with the official SDK.
func serveGoSDK() {
	s := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer := r.Params.InputResponses["name"]; answer != nil { // from 2026-07-28
			return greeting(answer), nil
		}
		question := &mcp.ElicitParams{Mode: "form", Message: "Who are you?", RequestedSchema: json.RawMessage(nameSchema)}
		if r.Session.InitializeParams().ProtocolVersion >= lib.ProtocolVersion20260728 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": question}}, nil
		}
		answer, err := r.Session.Elicit(ctx, question)
		if err != nil {
			return nil, err
		}
		return greeting(answer), nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func greeting(answer any) *mcp.CallToolResult {
	text := "No answer."
	if a, ok := answer.(*mcp.ElicitResult); ok && a.Action == "accept" {
		text = fmt.Sprintf("Hello, %v!", a.Content["name"])
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// serveMCPGo serves the tool greet with mcp-go.
func serveMCPGo() {
	s := server.NewMCPServer("mcp-go", "1", server.WithElicitation(), server.WithToolCapabilities(true))
	s.AddTool(lib.NewToolWithRawSchema("greet", "greets", json.RawMessage(`{"type":"object"}`)), func(ctx context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		question := lib.ElicitationParams{Mode: "form", Message: "Who are you?", RequestedSchema: json.RawMessage(nameSchema)}
		var answer *lib.ElicitationResult
		if server.IsModernRequest(ctx) {
			if answer = server.ElicitationResponse(r.Params.InputResponses, "name"); answer == nil {
				return server.NewInputRequestBuilder("").Elicit("name", question).ToolResult(), nil
			}
		} else {
			var err error
			if answer, err = s.RequestElicitation(ctx, lib.ElicitationRequest{Params: question}); err != nil {
				return nil, err
			}
		}
		content, _ := answer.Content.(map[string]any)
		return lib.NewToolResultText(fmt.Sprintf("Hello, %v!", content["name"])), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Whatever library an upstream is made with, its questions reach the person behind any
// client, and the answers go back; through a chain of two Beams, too.
func TestQuestionsOfOtherLibraries(t *testing.T) {
	chained := child(t, "beam", "stdio", "--memory", "--mcp-config", writeConfig(t, map[string]upstream{"inner": testServer(t)}))
	g := startGateway(t, map[string]upstream{
		"gosdk": child(t, "go-sdk"), "mcpgo": child(t, "mcp-go"), "beam": child(t, "beam", "stdio", "--memory"), "chain": chained,
		"old": testServer(t, "--protocol", "2025-06-18"), "modern": testServer(t, "--protocol", "2026-07-28"),
	})
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			session := g.connect(version, accept(map[string]any{"name": "Ada", "outputFormat": "json"}))
			tools := []string{"gosdk__greet", "mcpgo__greet", "beam__greet"}
			asking := []string{"chain__inner__ask_user_preferences", "old__ask_user_preferences", "modern__ask_user_preferences"}
			awaitTools(t, session, append(tools, asking...)...)
			for _, tool := range tools {
				if got, failed := call(t, session, programtest.WaitTimeout, tool, nil); failed || !strings.Contains(got, "Hello, Ada!") {
					t.Errorf("%s returned %s", tool, got)
				}
			}
			for _, tool := range asking {
				if got, failed := call(t, session, programtest.WaitTimeout, tool, nil); failed || !strings.Contains(got, `\"outputFormat\": \"json\"`) {
					t.Errorf("%s returned %s", tool, got)
				}
			}
		})
	}
}
