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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// Config sets up a server. Engine, Photons and Secret are required.
type Config struct {
	Engine  *run.Engine
	Photons *generators.Registry
	// Secret seals the states that clients carry; at least 16 bytes. States
	// can be taken up as long as it is the same.
	Secret []byte
	// Name and Version are how the server introduces itself.
	Name, Version string
	// Instructions tell a model what the server is for.
	Instructions string
	// Library adds what the library serves beside the tools: prompts,
	// resources, completions. See [Server.Library], too.
	Library []server.ServerOption
	// Hold tells how long the response of a tool's call may hold its
	// connection before a client that can resume it is told to come back
	// (2025-11-25); nil or 0 is as long as it takes.
	Hold func(tool string) time.Duration
	// Trace returns a context in the trace that a request says it is a part of;
	// nil if nothing is traced.
	Trace  func(context.Context, log.Trace) context.Context
	Asking Asking
	Logger *slog.Logger // nil discards
}

// A Server serves MCP. Its methods may be called from several goroutines.
type Server struct {
	engine  *run.Engine
	photons *generators.Registry
	lib     *server.MCPServer
	states  *sealer
	info    mcp.Implementation
	hold    func(tool string) time.Duration
	trace   func(context.Context, log.Trace) context.Context
	asks    Asking
	logger  *slog.Logger
	ids     atomic.Uint64
	turns   atomic.Uint32 // numbers calls; see call.turn

	registering sync.Mutex // held while the library is told the tools

	mu       sync.Mutex
	sessions map[string]*session // of HTTP clients, by Mcp-Session-Id
	watchers map[*changes]struct{}
	taskHub  *taskHub
	unwatch  func()

	closed context.Context
	close  context.CancelFunc
}

// pageSize is how many tools, prompts or resources a list has at once.
const pageSize = 500

// New returns a server. Close it when done.
func New(c Config) (*Server, error) {
	states, err := newSealer(c.Secret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: c.Engine, photons: c.Photons, states: states, hold: c.Hold, trace: c.Trace, logger: c.Logger,
		asks:     c.Asking,
		info:     mcp.Implementation{Name: c.Name, Version: c.Version},
		sessions: map[string]*session{}, watchers: map[*changes]struct{}{}, taskHub: newTaskHub(c.Engine),
	}
	s.turns.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may have had calls of a process before
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.closed, s.close = context.WithCancel(context.Background())
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) { s.listed(ctx, r) })
	options := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(), server.WithHooks(hooks),
		server.WithPaginationLimit(pageSize), server.WithInstructions(c.Instructions),
	}
	s.lib = server.NewMCPServer(c.Name, c.Version, append(options, c.Library...)...)
	s.unwatch = s.photons.Watch(func() { s.register(); s.Changed(ToolsChanged) })
	s.register()
	go s.forgetIdle()
	return s, nil
}

// Library is the library's server, to add prompts and resources to.
func (s *Server) Library() *server.MCPServer { return s.lib }

// Close ends all sessions and streams.
func (s *Server) Close() {
	s.unwatch()
	s.close()
	s.mu.Lock()
	sessions := s.sessions
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	for _, x := range sessions {
		x.end(errEnded)
	}
}

// nextID is an id for a request of ours.
func (s *Server) nextID() string { return "beam-" + strconv.FormatUint(s.ids.Add(1), 10) }

// A reply is what a request is answered with; nothing, if its message is nil.
type reply struct {
	message []byte
	// cursor is what a client that has the message resumes after.
	cursor string
	// code is that of the error, if the message is one.
	code int
}

func fault(id json.RawMessage, err *rpcError) reply {
	return reply{message: failure(id, err), code: err.Code}
}

// envelope is what every result of the modern era says beside its own.
type envelope struct {
	Type string         `json:"resultType,omitempty"`
	Meta map[string]any `json:"_meta,omitempty"`
}

func (s *Server) envelope(c *client, kind string) envelope {
	if !c.modern() {
		return envelope{}
	}
	return envelope{kind, map[string]any{mcp.MetaKeyServerInfo: s.info}}
}

// work is what is left to do for a message. It hands its reply, which may be
// empty, to answer, once, perhaps after it has returned.
type work func(answer func(reply))

// replied is work that is done.
func replied(r reply) work { return func(answer func(reply)) { answer(r) } }

// wait does the work and waits for its reply.
func (w work) wait() reply {
	got := make(chan reply, 1)
	w(func(r reply) { got <- r })
	return <-got
}

// admit takes a request in, in the order of the client's messages, and returns
// what is left to do. The exchange says where it came from; h are the headers that it came with over
// HTTP, which have to agree with it; nil on stdio.
func (s *Server) admit(ctx context.Context, x *exchange, m message, h http.Header) work {
	refuse := func(e *rpcError) work { return replied(fault(m.ID, e)) }
	p, refused := paramsOf(m)
	if refused != nil {
		return refuse(refused)
	}
	if x.client, refused = s.clientOf(x.session, m, p, h); refused != nil {
		return refuse(refused)
	}
	if s.trace != nil {
		ctx = s.trace(ctx, p.Meta.trace())
	}
	if x.flight, refused = x.takeOff(ctx, m.ID); refused != nil {
		return refuse(refused)
	}
	return func(answer func(reply)) {
		s.serve(x, m, p, func(r reply) {
			x.land(x.flight)
			answer(r)
		})
	}
}

func (s *Server) serve(x *exchange, m message, p *params, answer func(reply)) {
	switch {
	case m.Method == string(mcp.MethodToolsCall):
		s.callTool(x, m, p, answer)
	case isTaskMethod(m.Method):
		s.serveTask(x, m, answer)
	case m.Method == string(mcp.MethodSubscriptionsListen) && x.client.modern():
		answer(s.listen(x.flight.context(), x, m))
	default:
		r := s.dispatch(x.flight.context(), x, m)
		if x.flight.cancelled() == errCancelled {
			r = reply{}
		}
		answer(r)
	}
}

// clientOf is the client of a request: what it says itself in the modern era,
// and what initialize said before. Before initialize there are only that and
// ping.
func (s *Server) clientOf(x *session, m message, p *params, h http.Header) (*client, *rpcError) {
	if mcp.IsModernProtocol(p.Meta.version()) || mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return s.modernClient(x.who, m, p, h)
	}
	if c := x.current(); c != nil {
		return c, nil
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodPing):
		return &client{who: x.who, version: november2025, least: silent}, nil
	case string(mcp.MethodServerDiscover):
		return nil, faultf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	return nil, faultf(mcp.INVALID_REQUEST, "initialize comes first, or each request says its protocol version in _meta (2026-07-28)")
}

// dispatch has the library answer a request.
func (s *Server) dispatch(ctx context.Context, x *exchange, m message) reply {
	ctx = server.WithSupportedProtocolVersions(s.lib.WithContext(ctx, x), versions)
	answer := s.lib.HandleMessage(ctx, m.raw)
	raw, err := json.Marshal(answer)
	if err != nil || answer == nil {
		s.logger.Error("serving a request", "method", m.Method, "err", err)
		return fault(m.ID, faultf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why"))
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fault(m.ID, faultf(mcp.INTERNAL_ERROR, "Beam could not serve this request"))
	}
	if r.Error != nil {
		return fault(m.ID, refine(m, r.Error))
	}
	return reply{message: response(m.ID, s.dress(x, m, r.Result))}
}

// refine puts right what the library says of an error.
func refine(m message, e *rpcError) *rpcError {
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
