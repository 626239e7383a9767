package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
)

// A requestContext is the session as mcp-go sees it while it serves one request.
// Requests that a handler sends to the client use the stream of the request, and need
// the capability that the client declared for them.
type requestContext struct {
	*session
	client   *client
	inFlight *requests.InFlight
	sender   messageSender
	// missingResource says that the request failed because there is no such resource.
	missingResource bool
}

var (
	_ server.SessionWithLogging                  = (*requestContext)(nil)
	_ server.SessionWithClientInfo               = (*requestContext)(nil)
	_ server.SessionWithElicitation              = (*requestContext)(nil)
	_ server.SessionWithSampling                 = (*requestContext)(nil)
	_ server.SessionWithRoots                    = (*requestContext)(nil)
	_ server.SessionWithProtocolVersion          = (*requestContext)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*requestContext)(nil)
)

// Initialize and Initialized implement [server.ClientSession]. The session keeps track
// of the initialization itself.
func (rc *requestContext) Initialize()       {}
func (rc *requestContext) Initialized() bool { return true }

// SessionID implements [server.ClientSession].
func (rc *requestContext) SessionID() string { return rc.id }

// NotificationChannel implements [server.ClientSession]. It returns nil because mcp-go
// drops notifications that do not fit the channel.
func (rc *requestContext) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// SetLogLevel and GetLogLevel implement [server.SessionWithLogging].
func (rc *requestContext) SetLogLevel(level mcp.LoggingLevel) {
	if s, ok := msg.ParseSeverity(string(level)); ok {
		rc.updateClient(func(c *client) { c.LogLevel = s })
	}
}

func (rc *requestContext) GetLogLevel() mcp.LoggingLevel {
	if rc.client == nil || rc.client.LogLevel == msg.NoLogging {
		return mcp.LoggingLevelEmergency
	}
	return mcp.LoggingLevel(rc.client.LogLevel.Level())
}

// GetClientInfo and SetClientInfo implement [server.SessionWithClientInfo]. The server
// uses the client's name only to say where an answer came from.
func (rc *requestContext) GetClientInfo() mcp.Implementation { return mcp.Implementation{} }
func (rc *requestContext) SetClientInfo(i mcp.Implementation) {
	if rc.client == nil || !rc.client.IsModern() {
		rc.updateClient(func(c *client) { c.name = clientInfo{i.Name, i.Title}.name() })
	}
}

// GetClientCapabilities and SetClientCapabilities implement
// [server.SessionWithClientInfo].
func (rc *requestContext) GetClientCapabilities() mcp.ClientCapabilities {
	if rc.client == nil {
		return mcp.ClientCapabilities{}
	}
	return rc.client.Capabilities
}

func (rc *requestContext) SetClientCapabilities(caps mcp.ClientCapabilities) {
	if rc.client == nil || !rc.client.IsModern() {
		rc.updateClient(func(c *client) { c.Capabilities = caps })
	}
}

// ProtocolVersion implements [server.SessionWithProtocolVersion].
func (rc *requestContext) ProtocolVersion() string {
	if rc.client == nil {
		return ""
	}
	return rc.client.Version
}

// SetProtocolVersion implements [server.SessionWithProtocolVersion]. mcp-go calls it
// when initialize has negotiated a version.
func (rc *requestContext) SetProtocolVersion(version string) {
	rc.updateClient(func(c *client) { c.Version = version })
}

// SubscribeToResource, UnsubscribeFromResource and SubscribedResources
// implement [server.SessionWithResourceSubscriptions].
func (rc *requestContext) SubscribeToResource(uri string) { _ = rc.SubscribeToResourceErr(uri) }

// SubscribeToResourceErr implements
// [server.SessionWithResourceSubscriptionsErr].
func (rc *requestContext) SubscribeToResourceErr(uri string) error {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if len(rc.subscribedURIs) >= changes.MaxResources && !rc.subscribedURIs[uri] {
		return fmt.Errorf("a session may subscribe to at most %d resources", changes.MaxResources)
	}
	rc.subscribedURIs[uri] = true
	return nil
}

func (rc *requestContext) UnsubscribeFromResource(uri string) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	delete(rc.subscribedURIs, uri)
}

func (rc *requestContext) SubscribedResources() []string {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Collect(maps.Keys(rc.subscribedURIs))
}

// IsSubscribedToResource implements [server.SessionWithResourceSubscriptions].
func (rc *requestContext) IsSubscribedToResource(uri string) bool {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return rc.subscribedURIs[uri]
}

// RequestElicitation implements [server.SessionWithElicitation].
func (rc *requestContext) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if !rc.client.SupportsForms() {
		return nil, missingCapabilityError("elicitation")
	}
	return awaitResponse[mcp.ElicitationResult](ctx, rc, string(mcp.MethodElicitationCreate), r.Params)
}

// RequestSampling implements [server.SessionWithSampling].
func (rc *requestContext) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if !rc.client.SupportsSampling() {
		return nil, missingCapabilityError("sampling")
	}
	return awaitResponse[mcp.CreateMessageResult](ctx, rc, string(mcp.MethodSamplingCreateMessage), r.CreateMessageParams)
}

// ListRoots implements [server.SessionWithRoots].
func (rc *requestContext) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	if !rc.client.SupportsRoots() {
		return nil, missingCapabilityError("roots")
	}
	return awaitResponse[mcp.ListRootsResult](ctx, rc, string(mcp.MethodListRoots), nil)
}

func missingCapabilityError(capability string) error {
	return fmt.Errorf("the client did not declare the capability %q", capability)
}

// A responseChan receives the response for [awaitResponse].
type responseChan chan msg.Incoming

func (h responseChan) HandleResponse(m msg.Incoming) { h <- m }

// awaitResponse sends a request to the client and waits for its response.
func awaitResponse[T any](ctx context.Context, rc *requestContext, method string, params any) (*T, error) {
	responses := make(responseChan, 1)
	id := rc.server.nextRequestID()
	if err := rc.sendRequest(rc.sender, "", id, method, params, responses); err != nil {
		rc.requests.Forget(id)
		return nil, err
	}
	select {
	case <-ctx.Done():
		rc.requests.Forget(id)
		return nil, ctx.Err()
	case m := <-responses:
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
