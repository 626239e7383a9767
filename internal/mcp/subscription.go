package mcp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A subscription lists the changes that a client of the modern era subscribes to (MCP
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

// serveListen serves subscriptions/listen: it acknowledges what the server supports,
// sends notifications, and responds when the server closes.
func (s *Server) serveListen(ctx context.Context, rc *requestContext, m msg.Incoming) reply {
	requested, refused := parseSubscription(m)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	supported := s.limitSubscription(*requested)
	queue := newChangeQueue()
	queue.filter = supported.includes
	if refused := s.subscribeTasks(rc, queue, &supported); refused != nil {
		return errorReply(m.ID, refused)
	}
	defer queue.close()
	defer s.watchChanges(queue)()
	ack := msg.EncodeNotification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": subscriptionMeta(m.ID), "notifications": supported})
	if rc.sender.send("", ack) != nil {
		return reply{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	if queue.sendNotifications(ctx, rc.sender, m.ID) != nil || s.closed.Err() == nil {
		return reply{}
	}
	result := s.newResultBase(rc.client, "complete")
	result.Meta[mcp.MetaKeySubscriptionID] = m.ID
	return reply{message: msg.EncodeResult(m.ID, result)}
}

// parseSubscription decodes the params of subscriptions/listen.
func parseSubscription(m msg.Incoming) (*subscription, *msg.Error) {
	var params struct {
		Requested *subscription `json:"notifications"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil || params.Requested == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "subscriptions/listen requires notifications, an object")
	}
	if len(params.Requested.URIs) > maxSubscribedResources {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "a subscription has at most %d resources", maxSubscribedResources)
	}
	return params.Requested, nil
}

// limitSubscription returns the part of a subscription that this server supports.
func (s *Server) limitSubscription(f subscription) subscription {
	supported := s.serverCapabilities()
	f.Prompts = f.Prompts && supported.Prompts != nil && supported.Prompts.ListChanged
	f.Resources = f.Resources && supported.Resources != nil && supported.Resources.ListChanged
	if supported.Resources == nil || !supported.Resources.Subscribe {
		f.URIs = nil
	}
	return f
}

// discoverRequest asks mcp-go for the server's capabilities, which it exposes in no
// other way.
var discoverRequest = json.RawMessage(`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + version20260728 + `","io.modelcontextprotocol/clientCapabilities":{}}}}`)

func (s *Server) serverCapabilities() (supported mcp.ServerCapabilities) {
	answer, _ := s.library.HandleMessage(context.Background(), discoverRequest).(mcp.JSONRPCResponse)
	switch result := answer.Result.(type) {
	case mcp.DiscoverResult:
		supported = result.Capabilities
	case *mcp.DiscoverResult:
		supported = result.Capabilities
	}
	return supported
}

// watchChanges adds changes to q until the returned function is called.
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
