package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// Listen keeps a subscription to a modern server's notifications (MCP 2026-07-28,
// Subscriptions) until ctx or the session ends, or the server has none. Whenever it has to
// subscribe again, because the stream ended, it calls missed: notifications may be lost.
func (s *Session) Listen(ctx context.Context, filter map[string]any, missed func()) {
	params, err := json.Marshal(map[string]any{"notifications": filter})
	if err != nil {
		panic(err) // maps of booleans and texts
	}
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		_, err := s.request(ctx, string(mcp.MethodSubscriptionsListen), params)
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
