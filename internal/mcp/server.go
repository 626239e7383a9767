// Package mcp is Beam as an MCP server: the photons of a registry as tools,
// over stdio and HTTP, in every version of the protocol from 2025-03-26 to
// 2026-07-28.
//
// mcp-go is the registry and the dispatcher for everything that is answered at
// once. Calls of tools are served here, by following the run's log: what waits
// for a person holds neither a worker nor a lock. The transports are here too.
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
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// Config sets up a server. Engine, Photons and Secret are required.
type Config struct {
	Engine  *engine.Engine
	Photons *generators.Registry
	// StateSecret seals the states that clients carry; at least 16 bytes. States
	// can be taken up as long as it is the same.
	StateSecret []byte
	// Name and Version are how the server introduces itself.
	Name, Version string
	// Instructions tell a model what the server is for.
	Instructions string
	// Library adds what the library serves beside the tools: prompts,
	// resources, completions. See [Server.Library], too.
	Library []server.ServerOption
	// StreamLimit tells how long the response of a tool's call may hold its
	// connection before a client that can resume it is told to come back
	// (2025-11-25); nil or 0 is as long as it takes.
	StreamLimit func(tool string) time.Duration
	// TraceContext returns a context in the trace that a request says it is a part of;
	// nil if nothing is traced.
	TraceContext func(context.Context, runlog.Trace) context.Context
	AskPolicy    AskPolicy
	Logger       *slog.Logger // nil discards
}

// A Server serves MCP. Its methods may be called from several goroutines.
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
	lastCallNumber atomic.Uint32 // numbers calls; see call.turn

	registerMu sync.Mutex // held while the library is told the tools

	mu             sync.Mutex
	sessions       map[string]*session // of HTTP clients, by Mcp-Session-Id
	changeQueues   map[*changeQueue]struct{}
	taskHub        *taskHub
	unwatchPhotons func()

	closed context.Context
	cancel context.CancelFunc
}

// listPageSize is how many tools, prompts or resources a list has at once.
const listPageSize = 500

// New returns a server. Close it when done.
func New(c Config) (*Server, error) {
	states, err := newStateSealer(c.StateSecret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: c.Engine, photons: c.Photons, stateSealer: states, streamLimit: c.StreamLimit, traceContext: c.TraceContext, logger: c.Logger,
		askPolicy:      c.AskPolicy,
		implementation: mcp.Implementation{Name: c.Name, Version: c.Version},
		sessions:       map[string]*session{}, changeQueues: map[*changeQueue]struct{}{}, taskHub: newTaskHub(c.Engine),
	}
	s.lastCallNumber.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may have had calls of a process before
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

// Library is the library's server, to add prompts and resources to.
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

// nextRequestID is an id for a request of ours.
func (s *Server) nextRequestID() string {
	return "beam-" + strconv.FormatUint(s.lastRequestID.Add(1), 10)
}

// A reply is what a request is answered with; nothing, if its message is nil.
type reply struct {
	message []byte
	// cursor is what a client that has the message resumes after.
	cursor string
	// code is that of the error, if the message is one.
	code int
}

func errorReply(id json.RawMessage, err *rpcError) reply {
	return reply{message: encodeError(id, err), code: err.Code}
}

func (s *Server) newResultBase(c *client, kind string) resultBase {
	if !c.IsModern() {
		return resultBase{}
	}
	return resultBase{Type: kind, Meta: map[string]any{mcp.MetaKeyServerInfo: s.implementation}}
}

// deferredReply is what is left to do for a message. It hands its reply, which may be
// empty, to answer, once, perhaps after it has returned.
type deferredReply func(answer func(reply))

// immediateReply is work that is done.
func immediateReply(r reply) deferredReply { return func(answer func(reply)) { answer(r) } }

// await does the work and waits for its reply.
func (w deferredReply) await() reply {
	got := make(chan reply, 1)
	w(func(r reply) { got <- r })
	return <-got
}

// admitRequest takes a request in, in the order of the client's messages, and returns
// what is left to do. The exchange says where it came from; h are the headers that it came with over
// HTTP, which have to agree with it; nil on stdio.
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

func (s *Server) serveRequest(rc *requestContext, m message, p *requestParams, answer func(reply)) {
	switch {
	case m.Method == string(mcp.MethodToolsCall):
		s.serveToolCall(rc, m, p, answer)
	case isTaskMethod(m.Method):
		s.serveTaskRequest(rc, m, answer)
	case m.Method == string(mcp.MethodSubscriptionsListen) && rc.client.IsModern():
		answer(s.serveListen(rc.inFlight.newContext(), rc, m))
	default:
		r := s.dispatchToLibrary(rc.inFlight.newContext(), rc, m)
		if rc.inFlight.cancelCause() == errRequestCancelled {
			r = reply{}
		}
		answer(r)
	}
}

// identifyClient is the client of a request: what it says itself in the modern era,
// and what initialize said before. Before initialize there are only that and
// ping.
func (s *Server) identifyClient(sess *session, m message, p *requestParams, h http.Header) (*client, *rpcError) {
	if mcp.IsModernProtocol(p.Meta.protocolVersion()) || mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return s.newModernClient(sess.caller, m, p, h)
	}
	if c := sess.initializedClient(); c != nil {
		return c, nil
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodPing):
		return &client{sess.caller, msg.Client{Version: version20251125, LogLevel: msg.NoLogging}}, nil
	case string(mcp.MethodServerDiscover):
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	return nil, rpcErrorf(mcp.INVALID_REQUEST, "initialize comes first, or each request says its protocol version in _meta (2026-07-28)")
}

// dispatchToLibrary has the library answer a request.
func (s *Server) dispatchToLibrary(ctx context.Context, rc *requestContext, m message) reply {
	ctx = server.WithSupportedProtocolVersions(s.library.WithContext(ctx, rc), supportedVersions)
	answer := s.library.HandleMessage(ctx, m.Raw)
	raw, err := json.Marshal(answer)
	if err != nil || answer == nil {
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

// refineLibraryError puts right what the library says of an error.
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
