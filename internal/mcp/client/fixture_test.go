package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/client/clienttest"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// serverVariable makes the test program a server over stdio.
const serverVariable = "CLIENT_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(clienttest.Variable) != "" {
		clienttest.ServeChild()
	}
	switch os.Getenv(serverVariable) {
	case "":
		os.Exit(m.Run())
	case "go-sdk":
		_ = newSDKServer().Run(context.Background(), &mcp.StdioTransport{})
	case "mcp-go":
		_ = mcpgoserver.ServeStdio(newMCPGoServer())
	case "late probe":
		serveLateProbe()
	case "parent": // connects to a server of its own, and tells its process id
		s, err := client.Connect(context.Background(), client.Target{Command: os.Args[0], Env: map[string]string{serverVariable: "-", clienttest.Variable: ","}}, client.Options{})
		if err != nil {
			panic(err)
		}
		c := s.Call(context.Background(), client.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"pid","arguments":{}}`)})
		result, err := c.Result()
		fmt.Println(string(result), err)
		select {}
	}
}

type fixtureInput struct {
	N int `json:"n,omitempty"`
}

// newSDKServer returns a server on the official Go SDK. Its tool count notifies N times,
// ask elicits, sample samples and roots lists roots.
func newSDKServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "count"}, func(ctx context.Context, r *mcp.CallToolRequest, in fixtureInput) (*mcp.CallToolResult, any, error) {
		for i := range in.N {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: float64(in.N)})
		}
		return textResult("counted"), nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		who := &mcp.ElicitParams{Message: "Who?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"},
		}}
		if p := r.Session.InitializeParams(); p == nil || p.ProtocolVersion >= "2026-07-28" {
			answer, ok := r.Params.InputResponses["who"].(*mcp.ElicitResult)
			if !ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"who": who}, RequestState: "state"}, nil
			}
			return textResult(fmt.Sprint(answer.Action, " ", answer.Content["name"], r.Params.RequestState[:0])), nil
		}
		answer, err := r.Session.Elicit(ctx, who)
		if err != nil {
			return nil, err
		}
		return textResult(fmt.Sprint(answer.Action, " ", answer.Content["name"])), nil
	})
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// newMCPGoServer returns a server on mcp-go with the tools count and ask.
func newMCPGoServer() *mcpgoserver.MCPServer {
	s := mcpgoserver.NewMCPServer("mcp-go", "1", mcpgoserver.WithElicitation())
	s.AddTool(mcpgo.NewTool("ask"), func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		who := mcpgo.ElicitationParams{Message: "Who?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
		}}
		var answer *mcpgo.ElicitationResult
		if mcpgoserver.IsModernRequest(ctx) {
			if answer = mcpgoserver.ElicitationResponse(r.Params.InputResponses, "who"); answer == nil {
				return mcpgoserver.NewInputRequestBuilder("state").Elicit("who", who).ToolResult(), nil
			}
		} else {
			var err error
			if answer, err = s.RequestElicitation(ctx, mcpgo.ElicitationRequest{Params: who}); err != nil {
				return nil, err
			}
		}
		content, _ := answer.Content.(map[string]any)
		return mcpgo.NewToolResultText(fmt.Sprint(answer.Action, " ", content["name"])), nil
	})
	return s
}

// serveHTTP serves a handler, and returns the configuration of a server at it.
func serveHTTP(t testing.TB, h http.Handler) client.Target {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return client.Target{Name: "test", URL: server.URL, Type: client.HTTP}
}

// serveChild returns the configuration of a server that is the test program.
func serveChild(t testing.TB, kind string) client.Target {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return client.Target{Name: "test", Command: program, Type: client.Stdio, Env: map[string]string{serverVariable: kind}}
}

// serveRaw returns the configuration of a server of package clienttest.
func serveRaw(t testing.TB, options string) client.Target {
	c := serveChild(t, "")
	c.Env = map[string]string{clienttest.Variable: options + ","}
	return c
}

func sdkHandler(options *mcp.StreamableHTTPOptions) http.Handler {
	s := newSDKServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options)
}

const allCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

func connect(t testing.TB, server client.Target, change func(*client.Options)) *client.Session {
	options := client.Options{Capabilities: []byte(allCapabilities), HandleFault: func(text string) { t.Log("fault:", text) }, HandleStderr: func(line string) { t.Log("stderr:", line) }}
	if change != nil {
		change(&options)
	}
	ctx, cancel := context.WithTimeout(context.Background(), programtest.WaitTimeout)
	defer cancel()
	s, err := client.Connect(ctx, server, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
