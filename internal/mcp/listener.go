package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A listener serves subscriptions/listen (MCP 2026-07-28, Subscriptions).
type listener struct {
	library   library
	tasks     *tasks.Service
	upstreams *upstreams
	changes   *changes.Hub
	server    mcp.Implementation
	closed    context.Context
}

// serve acknowledges what the server supports of a subscription, sends notifications, and
// responds when the server closes.
func (l *listener) serve(r *session.Request) requests.Reply {
	requested, refused := changes.ParseSubscription(r.Message)
	if refused != nil {
		return r.Error(refused)
	}
	ctx := r.InFlight.NewContext()
	supported := requested.Limit(l.library.describe().Capabilities)
	l.upstreams.subscribe(ctx, r.Client.Caller, supported.URIs...)
	queue := changes.NewQueue(supported.Includes)
	if supported.Tasks != nil {
		watch, watched, refused := l.tasks.Subscribe(r.TaskRequester(), supported.Tasks, queue.Signal)
		if refused != nil {
			return r.Error(refused)
		}
		queue.SetSource(watch)
		supported.Tasks = watched
	}
	defer queue.Close()
	l.changes.Add(queue)
	defer l.changes.Remove(queue)
	ack := msg.EncodeNotification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": msg.SubscriptionMeta(r.ID()), "notifications": supported})
	if r.Sender.Send("", ack) != nil {
		return requests.Reply{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.closed, cancel)()
	if queue.SendNotifications(ctx, r.ID(), sendTo(r.Sender)) != nil || l.closed.Err() == nil {
		return requests.Reply{}
	}
	result := msg.NewResultBase(&r.Client.Client, "complete", l.server)
	result.Meta[mcp.MetaKeySubscriptionID] = r.ID()
	return r.Result(result)
}

// sendTo returns a function that sends messages which have no cursor.
func sendTo(out requests.Sender) func(message []byte) error {
	return func(message []byte) error { return out.Send("", message) }
}
