// Package peers compares Beam's stdio server with others in one run: a bare pipe that
// only scans lines, which is the lower bound, and the stdio servers of mcp-go and of
// the official Go SDK. Each is a process of its own. Beam runs twice: with everything
// in memory, and with a durable tool and a data folder.
package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Each server has a tool, ask, that asks for a word and returns it, and a tool that is
// usually quick. The pipe has only the first.
var servers = map[string]func(){"pipe": serveMinimal, "beam": serveBeam, "durable": serveDurable, "mcp-go": serveMCPGo, "go-sdk": serveGoSDK}

const wordSchema = `{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`

func TestMain(m *testing.M) {
	if serve := servers[os.Getenv("BEAM_PEER")]; serve != nil {
		serve()
		return
	}
	os.Exit(m.Run())
}

type none struct{}

// A pause is the argument of the tool quick: the milliseconds for which it sleeps.
type pause struct {
	MS int `json:"ms,omitempty"`
}

func (p pause) take() string {
	if p.MS > 0 {
		<-time.After(time.Duration(p.MS) * time.Millisecond)
	}
	return "quick"
}

func serveBeam() { serveBeamWith(nil, "--memory") }

func serveDurable() {
	serveBeamWith(&generators.Options{Durable: true}, "--data", os.Getenv("BEAM_PEER_DATA"))
}

func serveBeamWith(o *generators.Options, args ...string) {
	photon := generators.New("ask", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, o)
	quick := generators.New("quick", func(_ context.Context, in pause, _ generators.Yield) (string, error) { return in.take(), nil }, nil)
	// By default, no more than 500 calls of one client may work at once.
	args = append([]string{"stdio", "--working-each", "10000", "--working-all", "10000"}, args...)
	os.Exit(beam.Run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr, photon, quick))
}

func serveMCPGo() {
	s := server.NewMCPServer("peer", "1", server.WithElicitation(), server.WithToolCapabilities(true))
	s.AddTool(lib.NewToolWithRawSchema("ask", "asks", json.RawMessage(`{"type":"object"}`)), func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		r, err := s.RequestElicitation(ctx, lib.ElicitationRequest{Params: lib.ElicitationParams{Message: "Which word?", RequestedSchema: json.RawMessage(wordSchema)}})
		if err != nil {
			return nil, err
		}
		return lib.NewToolResultText(fmt.Sprint(r.Content)), nil
	})
	s.AddTool(lib.NewToolWithRawSchema("quick", "quick", json.RawMessage(`{"type":"object"}`)), func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		return lib.NewToolResultText(pause{r.GetInt("ms", 0)}.take()), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func serveGoSDK() {
	s := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		e, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Which word?", RequestedSchema: json.RawMessage(wordSchema)})
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(e.Content)}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in pause
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.take()}}}, nil
	})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// serveMinimal responds like a server, but decodes only the id of what it reads. It
// measures the minimum cost of two processes and a line in each direction.
func serveMinimal() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		id := messageID(line)
		switch {
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pipe","version":"1"}}}`+"\n", id)
		case strings.Contains(line, `"tools/call"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":"a%s","method":"elicitation/create","params":{"message":"Which word?","requestedSchema":%s}}`+"\n", id, wordSchema)
		case strings.Contains(line, `"action"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"word"}]}}`+"\n", strings.Trim(id, `"a`))
		}
	}
}

func messageID(line string) string {
	_, rest, _ := strings.Cut(line, `"id":`)
	end := strings.IndexAny(rest, ",}")
	if end < 0 {
		return "0"
	}
	return rest[:end]
}
