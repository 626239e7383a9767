package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// exchange is a session as the library sees it while it serves one request:
// what a handler asks of the client goes out on the request's own stream, and
// only if the client said that it can answer.
type exchange struct {
	*session
	client *client
	flight *flight
	out    outlet
}

var (
	_ server.SessionWithLogging                  = (*exchange)(nil)
	_ server.SessionWithClientInfo               = (*exchange)(nil)
	_ server.SessionWithElicitation              = (*exchange)(nil)
	_ server.SessionWithSampling                 = (*exchange)(nil)
	_ server.SessionWithRoots                    = (*exchange)(nil)
	_ server.SessionWithProtocolVersion          = (*exchange)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*exchange)(nil)
)

// Initialize and Initialized implement [server.ClientSession]; whether a
// client is initialized is the session's to know.
func (x *exchange) Initialize()       {}
func (x *exchange) Initialized() bool { return true }

// SessionID implements [server.ClientSession].
func (x *exchange) SessionID() string { return x.id }

// NotificationChannel implements [server.ClientSession]. Nothing is sent
// through it: the library would drop what does not fit.
func (x *exchange) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// SetLogLevel and GetLogLevel implement [server.SessionWithLogging].
func (x *exchange) SetLogLevel(level mcp.LoggingLevel) {
	if s, ok := severityOf(string(level)); ok {
		x.update(func(c *client) { c.least = s })
	}
}

func (x *exchange) GetLogLevel() mcp.LoggingLevel {
	if x.client == nil || x.client.least == silent {
		return mcp.LoggingLevelEmergency
	}
	return mcp.LoggingLevel(severities[x.client.least])
}

// GetClientInfo and SetClientInfo implement [server.SessionWithClientInfo].
// Who the client says it is changes nothing here.
func (x *exchange) GetClientInfo() mcp.Implementation { return mcp.Implementation{} }
func (x *exchange) SetClientInfo(mcp.Implementation)  {}

// GetClientCapabilities and SetClientCapabilities implement
// [server.SessionWithClientInfo].
func (x *exchange) GetClientCapabilities() mcp.ClientCapabilities {
	if x.client == nil {
		return mcp.ClientCapabilities{}
	}
	return x.client.caps
}

func (x *exchange) SetClientCapabilities(caps mcp.ClientCapabilities) {
	if x.client == nil || !x.client.modern() {
		x.update(func(c *client) { c.caps = caps })
	}
}

// ProtocolVersion implements [server.SessionWithProtocolVersion].
func (x *exchange) ProtocolVersion() string {
	if x.client == nil {
		return ""
	}
	return x.client.version
}

// SetProtocolVersion is called by the library when initialize has agreed on a
// version.
func (x *exchange) SetProtocolVersion(version string) {
	x.update(func(c *client) { c.version = version })
}

// SubscribeToResource, UnsubscribeFromResource and SubscribedResources
// implement [server.SessionWithResourceSubscriptions].
func (x *exchange) SubscribeToResource(uri string) { _ = x.SubscribeToResourceErr(uri) }

// SubscribeToResourceErr implements
// [server.SessionWithResourceSubscriptionsErr].
func (x *exchange) SubscribeToResourceErr(uri string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.watched) >= maxWatched && !x.watched[uri] {
		return fmt.Errorf("a session subscribes to at most %d resources", maxWatched)
	}
	x.watched[uri] = true
	return nil
}

func (x *exchange) UnsubscribeFromResource(uri string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.watched, uri)
}

func (x *exchange) SubscribedResources() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.watched))
}

// IsSubscribedToResource implements [server.SessionWithResourceSubscriptions].
func (x *exchange) IsSubscribedToResource(uri string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.watched[uri]
}

// maxWatched bounds the resources that a session subscribes to.
const maxWatched = 1000

// RequestElicitation implements [server.SessionWithElicitation].
func (x *exchange) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if !x.client.forms() {
		return nil, missing("elicitation")
	}
	return await[mcp.ElicitationResult](ctx, x, string(mcp.MethodElicitationCreate), r.Params)
}

// RequestSampling implements [server.SessionWithSampling].
func (x *exchange) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if !x.client.samples() {
		return nil, missing("sampling")
	}
	return await[mcp.CreateMessageResult](ctx, x, string(mcp.MethodSamplingCreateMessage), r.CreateMessageParams)
}

// ListRoots implements [server.SessionWithRoots].
func (x *exchange) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	if !x.client.roots() {
		return nil, missing("roots")
	}
	return await[mcp.ListRootsResult](ctx, x, string(mcp.MethodListRoots), nil)
}

func missing(capability string) error {
	return fmt.Errorf("the client did not declare the capability %q", capability)
}

// heard is where [await] gets its response.
type heard chan message

func (h heard) answer(m message) { h <- m }

// await asks the client and waits for its response.
func await[T any](ctx context.Context, x *exchange, method string, params any) (*T, error) {
	got := make(heard, 1)
	id := x.server.nextID()
	if err := x.ask(x.out, "", id, method, params, got); err != nil {
		x.forget(id)
		return nil, err
	}
	select {
	case <-ctx.Done():
		x.forget(id)
		return nil, ctx.Err()
	case m := <-got:
		if m.Error != nil {
			return nil, m.Error
		}
		var result T
		if err := json.Unmarshal(m.Result, &result); err != nil {
			return nil, fmt.Errorf("the client's answer to %s has the wrong shape", method)
		}
		return &result, nil
	}
}
