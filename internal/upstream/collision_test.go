package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// Two tools that would have the same name are an error at the start, which names both. A
// tool that gets such a name later is left out, and the upstream's status says so.
func TestCollidingNames(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "names", Version: "1"}, nil)
	add := func(name string) {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	}
	add("read.file")
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer h.Close()
	defer h.CloseClientConnections()
	start := func() (*upstream.Manager, error) {
		registry, err := registry.NewRegistry()
		if err != nil {
			t.Fatal(err)
		}
		m, err := upstream.NewManager(upstream.Options{
			Servers: []config.Server{{Target: client.Target{Name: "names", Type: config.HTTP, URL: h.URL}}}, Photons: registry,
			Policy: policy.Options{Elicitation: policy.DefaultElicitation()}, Name: "beam", Version: "1",
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
		defer cancel()
		return m, m.Start(ctx)
	}
	m, err := start()
	if err != nil {
		t.Fatal(err)
	}
	add("read_file")
	u, _ := m.Lookup("names")
	var reason string
	programtest.Poll(func() bool {
		for _, tool := range u.Status().Tools {
			if tool.Decision == policy.Skipped {
				reason = tool.Reason
			}
		}
		return reason != ""
	})
	if !strings.Contains(reason, `"read.file" and "read_file"`) {
		t.Errorf("the tool that collides later: %q", reason)
	}
	for i := range 20 {
		add(fmt.Sprintf("z.%d", i))
		add(fmt.Sprintf("z_%d", i))
	}
	_, err = start()
	if !errors.Is(err, catalogue.ErrCollision) || !strings.Contains(err.Error(), `names's "read.file" and "read_file" would both be names__read_file`) {
		t.Errorf("the start with a collision: %v", err)
	}
	if lines := strings.Count(err.Error(), "\n"); lines > 10 || !strings.Contains(err.Error(), "16 times more") {
		t.Errorf("the error of many collisions has %d lines: %v", lines, err)
	}
}
