package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/mcp/client"
)

type peer struct {
	name    string
	server  func(testing.TB) client.Target
	options func(*client.Options)
}

func legacy(o *client.Options) {
	o.Versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

var peers = []peer{
	{"go-sdk over stdio", func(t testing.TB) client.Target { return serveChild(t, "go-sdk") }, nil},
	{"go-sdk over stdio, legacy", func(t testing.TB) client.Target { return serveChild(t, "go-sdk") }, legacy},
	{"go-sdk over HTTP", func(t testing.TB) client.Target { return serveHTTP(t, sdkHandler(nil)) }, nil},
	{"go-sdk over HTTP, legacy", func(t testing.TB) client.Target { return serveHTTP(t, sdkHandler(nil)) }, legacy},
	{"go-sdk over HTTP+SSE", func(t testing.TB) client.Target {
		s := newSDKServer()
		return serveHTTP(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil))
	}, nil},
	{"mcp-go over stdio", func(t testing.TB) client.Target { return serveChild(t, "mcp-go") }, nil},
	{"mcp-go over stdio, legacy", func(t testing.TB) client.Target { return serveChild(t, "mcp-go") }, legacy},
}

func call(t testing.TB, s *client.Session, tool, args string, handle func(client.Event)) string {
	c := s.Call(context.Background(), client.Request{Method: "tools/call", Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))})
	for {
		e, more := c.Next()
		if !more {
			break
		}
		handle(e)
	}
	result, err := c.Result()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return string(result)
}

func TestPeersAsk(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			s := connect(t, p.server(t), p.options)
			t.Log(s.Server().Version)
			tools, err := s.List(context.Background(), "tools/list", "tools", 100)
			if err != nil || len(tools) == 0 {
				t.Fatal(tools, err)
			}
			result := call(t, s, "ask", "{}", func(e client.Event) {
				if e.Request != nil {
					e.Request.Reply(json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`))
				}
			})
			if !strings.Contains(result, "accept Ada") {
				t.Errorf("the result is %s", result)
			}
		})
	}
}

func TestNoNotificationIsLost(t *testing.T) {
	for _, p := range peers {
		if strings.HasPrefix(p.name, "mcp-go") {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := connect(t, p.server(t), p.options)
			n := 0
			call(t, s, "count", `{"n":500}`, func(e client.Event) {
				if e.Notification != nil {
					n++
				}
			})
			if n != 500 {
				t.Errorf("%d of 500 notifications arrived", n)
			}
		})
	}
}
