package mcp

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// sendTo returns a function that sends messages which have no cursor.
func sendTo(out messageSender) func(message []byte) error {
	return func(message []byte) error { return out.Send("", message) }
}

// serveListen serves subscriptions/listen: it acknowledges what the server supports,
// sends notifications, and responds when the server closes.
func (s *Server) serveListen(ctx context.Context, rc *requestContext, m msg.Incoming) reply {
	requested, refused := changes.ParseSubscription(m)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	supported := requested.Limit(s.serverCapabilities())
	s.subscribeUpstreams(rc, &supported)
	queue := changes.NewQueue(supported.Includes)
	if supported.Tasks != nil {
		watch, watched, refused := s.tasks.Subscribe(rc.taskRequester(), supported.Tasks, queue.Signal)
		if refused != nil {
			return errorReply(m.ID, refused)
		}
		queue.SetSource(watch)
		supported.Tasks = watched
	}
	defer queue.Close()
	s.changes.Add(queue)
	defer s.changes.Remove(queue)
	ack := msg.EncodeNotification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": msg.SubscriptionMeta(m.ID), "notifications": supported})
	if rc.sender.Send("", ack) != nil {
		return reply{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	if queue.SendNotifications(ctx, m.ID, sendTo(rc.sender)) != nil || s.closed.Err() == nil {
		return reply{}
	}
	result := s.newResultBase(rc.client, "complete")
	result.Meta[mcp.MetaKeySubscriptionID] = m.ID
	return reply{message: msg.EncodeResult(m.ID, result)}
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
