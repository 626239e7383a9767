package mcp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// subscription is what a client of the modern era wants to be told of (MCP
// 2026-07-28, Subscriptions).
type subscription struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	Tasks     []string `json:"taskIds,omitempty"` // SEP-2663
}

func (f *subscription) wants(method, uri string) bool {
	switch method {
	case string(ToolsChanged):
		return f.Tools
	case string(PromptsChanged):
		return f.Prompts
	case string(ResourcesChanged):
		return f.Resources
	}
	return slices.Contains(f.URIs, uri)
}

// listen serves subscriptions/listen: it says what it takes on, tells it as it
// happens, and answers when the server ends.
func (s *Server) listen(ctx context.Context, x *exchange, m message) reply {
	var params struct {
		Wants *subscription `json:"notifications"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil || params.Wants == nil {
		return fault(m.ID, faultf(mcp.INVALID_PARAMS, "subscriptions/listen takes notifications, an object that says which"))
	}
	if len(params.Wants.URIs) > maxWatched {
		return fault(m.ID, faultf(mcp.INVALID_PARAMS, "a subscription has at most %d resources", maxWatched))
	}
	f := s.offered(*params.Wants)
	w := newChanges()
	w.wants = f.wants
	if refused := s.listenTasks(x, w, &f); refused != nil {
		return fault(m.ID, refused)
	}
	defer w.close()
	defer s.watch(w)()
	ack := notification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": subscribed(m.ID), "notifications": f})
	if x.out.send("", ack) != nil {
		return reply{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	for {
		said := w.next(ctx, m.ID)
		for _, n := range said {
			if x.out.send("", n) != nil {
				return reply{}
			}
		}
		if said == nil {
			break
		}
	}
	if s.closed.Err() == nil {
		return reply{}
	}
	e := s.envelope(x.client, "complete")
	e.Meta[mcp.MetaKeySubscriptionID] = m.ID
	return reply{message: response(m.ID, e)}
}

// offered is what of a subscription this server has to tell.
func (s *Server) offered(f subscription) subscription {
	has := s.offers()
	f.Prompts = f.Prompts && has.Prompts != nil && has.Prompts.ListChanged
	f.Resources = f.Resources && has.Resources != nil && has.Resources.ListChanged
	if has.Resources == nil || !has.Resources.Subscribe {
		f.URIs = nil
	}
	return f
}

// discover asks the library what it offers; it says so in no other way.
var discover = json.RawMessage(`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + july2026 + `","io.modelcontextprotocol/clientCapabilities":{}}}}`)

func (s *Server) offers() (has mcp.ServerCapabilities) {
	answer, _ := s.lib.HandleMessage(context.Background(), discover).(mcp.JSONRPCResponse)
	switch result := answer.Result.(type) {
	case mcp.DiscoverResult:
		has = result.Capabilities
	case *mcp.DiscoverResult:
		has = result.Capabilities
	}
	return has
}

// watch has w told of changes until the returned function is called.
func (s *Server) watch(w *changes) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[w] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}
}
