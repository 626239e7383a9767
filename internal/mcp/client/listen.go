package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// Listen keeps a subscription to a modern server's notifications (MCP 2026-07-28,
// Subscriptions) until ctx or the session ends, or the server has none. It calls acknowledged
// when the server says that it notifies from now on. Whenever it has to subscribe again,
// because the stream ended, it calls missed: notifications may be lost.
func (s *Session) Listen(ctx context.Context, filter map[string]any, acknowledged, missed func()) {
	params, err := json.Marshal(map[string]any{"notifications": filter})
	if err != nil {
		panic(err) // maps of booleans and texts
	}
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		_, err := s.await(ctx, &pendingRequest{method: string(mcp.MethodSubscriptionsListen), params: params, onAcknowledged: acknowledged})
		var refused *message.Error
		if ctx.Err() != nil || s.ctx.Err() != nil || errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND {
			return
		}
		if time.Since(began) > time.Minute {
			wait = time.Second
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
		t.Stop()
		missed()
	}
}

// handleAcknowledged handles the notification that a subscription has begun.
func (s *Session) handleAcknowledged(n Notification, origin *pendingRequest) {
	x := origin
	if x == nil {
		meta := objectOrEmpty(rawjson.Member(objectOrEmpty(n.Params), "_meta"))
		s.mu.Lock()
		x = s.pending[string(rawjson.Member(meta, mcp.MetaKeySubscriptionID))]
		s.mu.Unlock()
	}
	if x != nil && x.onAcknowledged != nil {
		x.onAcknowledged()
	}
}
