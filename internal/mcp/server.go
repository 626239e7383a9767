// Package mcp implements Beam's MCP server. It serves the photons of a registry as
// tools, over stdio and HTTP, in every version of the protocol from 2025-03-26 to
// 2026-07-28. The code calls clients of 2026-07-28, which have no session, modern.
//
// mcp-go registers the tools and dispatches everything that needs no waiting. This
// package implements the transports, and serves tool calls by following the log of
// their run, so that a call that waits for a person holds neither a worker nor a lock.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Config configures a server. Engine, Photons and StateSecret are required.
type Config struct {
	Engine  *engine.Engine
	Photons *generators.Registry
	// StateSecret is the key of the request states that clients carry, at least 16
	// bytes. A state is valid as long as the secret stays the same.
	StateSecret []byte
	// Name and Version identify the server to clients.
	Name, Version string
	// Instructions tell a model what the server is for.
	Instructions string
	// Library configures what mcp-go serves beside the tools: prompts, resources,
	// completions. See also [Server.Library].
	Library []server.ServerOption
	// StreamLimit returns how long the response to a call of tool may hold its
	// connection before a client that can resume it is disconnected (2025-11-25). If it
	// is nil or returns 0, there is no limit.
	StreamLimit func(tool string) time.Duration
	// TraceContext returns a context that belongs to the trace of a request. It is nil
	// if nothing is traced.
	TraceContext func(context.Context, runlog.Trace) context.Context
	AskPolicy    AskPolicy
	Logger       *slog.Logger // nil discards
}

// A Server serves MCP. Its methods may be called concurrently.
type Server struct {
	engine         *engine.Engine
	photons        *generators.Registry
	library        *server.MCPServer
	stateSealer    *stateSealer
	implementation mcp.Implementation
	streamLimit    func(tool string) time.Duration
	traceContext   func(context.Context, runlog.Trace) context.Context
	askPolicy      AskPolicy
	logger         *slog.Logger
	lastRequestID  atomic.Uint64
	lastCallNumber atomic.Uint32 // see call.number

	registerMu sync.Mutex // held while the tools are registered with the library

	mu             sync.Mutex
	sessions       map[string]*session // of HTTP clients, by Mcp-Session-Id
	changeQueues   map[*changeQueue]struct{}
	taskHub        *taskHub
	unwatchPhotons func()

	closed context.Context
	cancel context.CancelFunc
}

// listPageSize is the maximum number of tools, prompts or resources on one page of a
// list.
const listPageSize = 500

// New returns a server. The caller must close it.
func New(c Config) (*Server, error) {
	sealer, err := newStateSealer(c.StateSecret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: c.Engine, photons: c.Photons, stateSealer: sealer, streamLimit: c.StreamLimit, traceContext: c.TraceContext, logger: c.Logger,
		askPolicy:      c.AskPolicy,
		implementation: mcp.Implementation{Name: c.Name, Version: c.Version},
		sessions:       map[string]*session{}, changeQueues: map[*changeQueue]struct{}{}, taskHub: newTaskHub(c.Engine),
	}
	s.lastCallNumber.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may still know numbers of an earlier process
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.closed, s.cancel = context.WithCancel(context.Background())
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		s.completeToolList(ctx, r)
	})
	options := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(), server.WithHooks(hooks),
		server.WithPaginationLimit(listPageSize), server.WithInstructions(c.Instructions),
	}
	s.library = server.NewMCPServer(c.Name, c.Version, append(options, c.Library...)...)
	s.unwatchPhotons = s.photons.Watch(func() { s.registerTools(); s.NotifyListChanged(ToolsChanged) })
	s.registerTools()
	go s.endIdleSessions()
	return s, nil
}

// Library returns mcp-go's server, to which prompts and resources may be added.
func (s *Server) Library() *server.MCPServer { return s.library }

// Close ends all sessions and streams.
func (s *Server) Close() {
	s.unwatchPhotons()
	s.cancel()
	s.mu.Lock()
	sessions := s.sessions
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	for _, sess := range sessions {
		sess.endSession(errSessionEnded)
	}
}

// nextRequestID returns an id for a request of this server.
func (s *Server) nextRequestID() string {
	return "beam-" + strconv.FormatUint(s.lastRequestID.Add(1), 10)
}

// A reply is the response to a request. There is none if its message is nil.
type reply struct {
	message []byte
	// cursor is the event id that a client which received the message resumes after.
	cursor string
	// code is the error code, if the message is an error response.
	code int
}

func errorReply(id json.RawMessage, err *rpcError) reply {
	return reply{message: encodeError(id, err), code: err.Code}
}

// resultBase holds the members that every result of the modern era has.
type resultBase struct {
	Type string         `json:"resultType,omitempty"`
	Meta map[string]any `json:"_meta,omitempty"`
}

func (s *Server) newResultBase(c *client, kind string) resultBase {
	if !c.isModern() {
		return resultBase{}
	}
	return resultBase{kind, map[string]any{mcp.MetaKeyServerInfo: s.implementation}}
}

// A deferredReply finishes the work for a message. It passes the reply, which may be
// empty, to answer once, perhaps after it has returned.
type deferredReply func(answer func(reply))

// immediateReply returns a deferredReply for a reply that is already known.
func immediateReply(r reply) deferredReply { return func(answer func(reply)) { answer(r) } }

// await finishes the work and waits for the reply.
func (w deferredReply) await() reply {
	got := make(chan reply, 1)
	w(func(r reply) { got <- r })
	return <-got
}

// admitRequest registers a request and returns the work that remains. Callers must call
// it in the order of the client's messages. Over HTTP, h holds the request's headers,
// which must agree with its body; on stdio, it is nil.
func (s *Server) admitRequest(ctx context.Context, rc *requestContext, m message, h http.Header) deferredReply {
	refuse := func(e *rpcError) deferredReply { return immediateReply(errorReply(m.ID, e)) }
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
	if rc.inFlight, refused = rc.registerRequest(ctx, m.ID); refused != nil {
		return refuse(refused)
	}
	return func(answer func(reply)) {
		s.serveRequest(rc, m, p, func(r reply) {
			rc.finishRequest(rc.inFlight)
			answer(r)
		})
	}
}

// serveRequest serves a registered request and passes its reply to answer.
func (s *Server) serveRequest(rc *requestContext, m message, p *requestParams, answer func(reply)) {
	switch {
	case m.Method == string(mcp.MethodToolsCall):
		s.serveToolCall(rc, m, p, answer)
	case isTaskMethod(m.Method):
		s.serveTaskRequest(rc, m, answer)
	case m.Method == string(mcp.MethodSubscriptionsListen) && rc.client.isModern():
		answer(s.serveListen(rc.inFlight.newContext(), rc, m))
	default:
		r := s.dispatchToLibrary(rc.inFlight.newContext(), rc, m)
		if rc.inFlight.cancelCause() == errRequestCancelled {
			r = reply{}
		}
		answer(r)
	}
}

// identifyClient returns the client of a request: the one that the request itself
// describes in the modern era, and otherwise the one that initialize introduced. Before
// initialize, only initialize and ping are allowed.
func (s *Server) identifyClient(sess *session, m message, p *requestParams, h http.Header) (*client, *rpcError) {
	if mcp.IsModernProtocol(p.Meta.protocolVersion()) || mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return s.newModernClient(sess.caller, m, p, h)
	}
	if c := sess.initializedClient(); c != nil {
		return c, nil
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodPing):
		return &client{caller: sess.caller, version: version20251125, logLevel: noLogging}, nil
	case string(mcp.MethodServerDiscover):
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	return nil, rpcErrorf(mcp.INVALID_REQUEST, "send initialize first, or a protocol version in each request's _meta (2026-07-28)")
}

// dispatchToLibrary serves a request with mcp-go.
func (s *Server) dispatchToLibrary(ctx context.Context, rc *requestContext, m message) reply {
	ctx = server.WithSupportedProtocolVersions(s.library.WithContext(ctx, rc), supportedVersions)
	response := s.library.HandleMessage(ctx, m.raw)
	raw, err := json.Marshal(response)
	if err != nil || response == nil {
		s.logger.Error("serving a request", "method", m.Method, "err", err)
		return errorReply(m.ID, rpcErrorf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why"))
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return errorReply(m.ID, rpcErrorf(mcp.INTERNAL_ERROR, "Beam could not serve this request"))
	}
	if r.Error != nil {
		return errorReply(m.ID, refineLibraryError(m, r.Error))
	}
	return reply{message: encodeResult(m.ID, s.extendLibraryResult(rc, m, r.Result))}
}

// refineLibraryError corrects an error of mcp-go's: a missing resource is named in the
// message and data.
func refineLibraryError(m message, e *rpcError) *rpcError {
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
