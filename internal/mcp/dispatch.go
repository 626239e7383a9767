package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// admitRequest registers a request and returns the work that remains. Callers must call
// it in the order of the client's messages. Over HTTP, h holds the request's headers,
// which must agree with its body; on stdio, it is nil.
func (s *Server) admitRequest(ctx context.Context, rc *requestContext, m msg.Incoming, h http.Header) deferredReply {
	refuse := func(e *msg.Error) deferredReply { return immediateReply(errorReply(m.ID, e)) }
	p, refused := parseParams(m)
	if refused != nil {
		return refuse(refused)
	}
	if rc.client, refused = s.identifyClient(rc.session, m, p, h); refused != nil {
		return refuse(refused)
	}
	if s.traceContext != nil {
		ctx = s.traceContext(ctx, p.Meta.logTrace())
	}
	if rc.inFlight, refused = rc.requests.Register(ctx, m.ID); refused != nil {
		return refuse(refused)
	}
	return func(answer func(reply)) {
		s.serveRequest(rc, m, p, func(r reply) {
			rc.requests.Finish(rc.inFlight)
			answer(r)
		})
	}
}

// serveRequest serves a registered request and passes its reply to answer.
func (s *Server) serveRequest(rc *requestContext, m msg.Incoming, p *requestParams, answer func(reply)) {
	if uri, ok := s.requestsView(m); ok {
		answer(s.serveView(rc, m, uri))
		return
	}
	switch {
	case m.Method == string(mcp.MethodToolsCall):
		s.serveToolCall(rc, m, p, answer)
	case tasks.IsMethod(m.Method):
		s.serveTaskRequest(rc, m, answer)
	case m.Method == string(mcp.MethodSubscriptionsListen) && rc.client.IsModern():
		answer(s.serveListen(rc.inFlight.NewContext(), rc, m))
	case s.upstreams != nil && isUpstreamMethod(m.Method):
		rc.session.runBlocking(func() { s.serveUpstreamRequest(rc, m, p, answer) })
	default:
		answer(s.serveByLibrary(rc, m))
	}
}

// serveByLibrary serves a request with mcp-go, unless it is cancelled.
func (s *Server) serveByLibrary(rc *requestContext, m msg.Incoming) reply {
	r := s.dispatchToLibrary(rc.inFlight.NewContext(), rc, m)
	if rc.inFlight.Cause() == requests.ErrCancelled {
		return reply{}
	}
	return r
}

// identifyClient returns the client of a request: the one that the request itself
// describes in the modern era, and otherwise the one that initialize introduced. Before
// initialize, only initialize and ping are allowed.
func (s *Server) identifyClient(sess *session, m msg.Incoming, p *requestParams, h http.Header) (*client, *msg.Error) {
	if mcp.IsModernProtocol(p.Meta.protocolVersion()) || mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return s.newModernClient(sess.currentCaller(), m, p, h)
	}
	if c := sess.initializedClient(); c != nil {
		return c, nil
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodPing):
		return &client{caller: sess.currentCaller(), Client: msg.Client{Version: version20251125, LogLevel: msg.NoLogging}}, nil
	case string(mcp.MethodServerDiscover):
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	return nil, msg.Errorf(mcp.INVALID_REQUEST, "send initialize first, or a protocol version in each request's _meta (2026-07-28)")
}

// dispatchToLibrary serves a request with mcp-go.
func (s *Server) dispatchToLibrary(ctx context.Context, rc *requestContext, m msg.Incoming) reply {
	if refused := checkCursor(m); refused != nil {
		return errorReply(m.ID, refused)
	}
	ctx = server.WithSupportedProtocolVersions(s.library.WithContext(ctx, rc), supportedVersions)
	response := s.library.HandleMessage(ctx, m.Raw)
	raw, err := json.Marshal(response)
	if err != nil || response == nil {
		s.logger.Error("serving a request", "method", m.Method, "err", err)
		return errorReply(m.ID, msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why"))
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *msg.Error      `json:"error"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return errorReply(m.ID, msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this request"))
	}
	if r.Error != nil {
		return errorReply(m.ID, refineLibraryError(rc, m, r.Error))
	}
	return reply{message: msg.EncodeResult(m.ID, s.extendLibraryResult(rc, m, r.Result))}
}

// noteMissingResource is a hook of mcp-go's, which reports [server.ErrResourceNotFound] as
// an internal error if the handler of a resource returns it.
func noteMissingResource(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	if rc, ok := server.ClientSessionFromContext(ctx).(*requestContext); ok && errors.Is(err, server.ErrResourceNotFound) {
		rc.missingResource = true
	}
}

// refineLibraryError corrects an error of mcp-go's: a missing resource has the code that
// MCP defines, and is named in the message and data.
func refineLibraryError(rc *requestContext, m msg.Incoming, e *msg.Error) *msg.Error {
	if rc.missingResource && e.Code == mcp.INTERNAL_ERROR {
		e.Code = mcp.RESOURCE_NOT_FOUND
		if rc.client.IsModern() {
			e.Code = mcp.INVALID_PARAMS
		}
	}
	if m.Method == string(mcp.MethodResourcesRead) && (e.Code == mcp.RESOURCE_NOT_FOUND || e.Code == mcp.INVALID_PARAMS) {
		var params struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(m.Params, &params) == nil && e.Data == nil {
			e.Message, e.Data = fmt.Sprintf("there is no resource %q", params.URI), map[string]string{"uri": params.URI}
		}
	}
	return e
}

// extendLibraryResult adds to a result of mcp-go what mcp-go does not support.
func (s *Server) extendLibraryResult(rc *requestContext, m msg.Incoming, result json.RawMessage) json.RawMessage {
	return s.extendForApps(rc, m, s.extendForTasksAndUpstreams(rc, m, result))
}

func (s *Server) extendForTasksAndUpstreams(rc *requestContext, m msg.Incoming, result json.RawMessage) json.RawMessage {
	switch m.Method {
	case string(mcp.MethodInitialize):
		var agreed struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(result, &agreed) == nil && agreed.Version == version20251125 {
			return msg.WithMembers(result, map[string]any{"tasks": tasks.Capability(rc.identified)}, "capabilities")
		}
	case string(mcp.MethodServerDiscover):
		return msg.WithMembers(result, map[string]any{tasks.Extension: struct{}{}}, "capabilities", "extensions")
	case string(mcp.MethodToolsList):
		if rc.client.Version == version20251125 {
			result = s.tasks.AddHints(result)
		}
		if s.upstreams != nil {
			result = s.insertDefinitions(rc, result)
		}
	}
	return result
}
