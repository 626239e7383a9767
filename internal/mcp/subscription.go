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

func (f *subscription) includes(method, uri string) bool {
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

// serveListen serves subscriptions/listen: it says what it takes on, tells it as it
// happens, and answers when the server ends.
func (s *Server) serveListen(ctx context.Context, rc *requestContext, m message) reply {
	var params struct {
		Wants *subscription `json:"notifications"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil || params.Wants == nil {
		return errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "subscriptions/listen takes notifications, an object that says which"))
	}
	if len(params.Wants.URIs) > maxSubscribedResources {
		return errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "a subscription has at most %d resources", maxSubscribedResources))
	}
	f := s.limitSubscription(*params.Wants)
	w := newChangeQueue()
	w.filter = f.includes
	if refused := s.subscribeTasks(rc, w, &f); refused != nil {
		return errorReply(m.ID, refused)
	}
	defer w.close()
	defer s.watchChanges(w)()
	ack := encodeNotification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": subscriptionMeta(m.ID), "notifications": f})
	if rc.sender.send("", ack) != nil {
		return reply{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	for {
		said := w.awaitNotifications(ctx, m.ID)
		for _, n := range said {
			if rc.sender.send("", n) != nil {
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
	e := s.newResultBase(rc.client, "complete")
	e.Meta[mcp.MetaKeySubscriptionID] = m.ID
	return reply{message: encodeResult(m.ID, e)}
}

// limitSubscription is what of a subscription this server has to tell.
func (s *Server) limitSubscription(f subscription) subscription {
	has := s.serverCapabilities()
	f.Prompts = f.Prompts && has.Prompts != nil && has.Prompts.ListChanged
	f.Resources = f.Resources && has.Resources != nil && has.Resources.ListChanged
	if has.Resources == nil || !has.Resources.Subscribe {
		f.URIs = nil
	}
	return f
}

// discoverRequest asks the library what it offers; it says so in no other way.
var discoverRequest = json.RawMessage(`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + version20260728 + `","io.modelcontextprotocol/clientCapabilities":{}}}}`)

func (s *Server) serverCapabilities() (has mcp.ServerCapabilities) {
	answer, _ := s.library.HandleMessage(context.Background(), discoverRequest).(mcp.JSONRPCResponse)
	switch result := answer.Result.(type) {
	case mcp.DiscoverResult:
		has = result.Capabilities
	case *mcp.DiscoverResult:
		has = result.Capabilities
	}
	return has
}

// watchChanges has w told of changes until the returned function is called.
func (s *Server) watchChanges(q *changeQueue) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeQueues[q] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.changeQueues, q)
	}
}
