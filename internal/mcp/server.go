// Package mcp implements Beam's MCP server. It serves the photons of a registry as
// tools, over stdio and HTTP, in every version of the protocol from 2025-03-26 to
// 2026-07-28. The code calls clients of 2026-07-28, which have no session, modern.
//
// mcp-go registers the tools and dispatches everything that needs no waiting. This
// package implements the transports, and serves tool calls by following the log of
// their run, so that a call that waits for a person holds neither a worker nor a lock.
//
// A message arrives at a stdioConn, or at ServeHTTP, in a session. A request goes
// through admitRequest and serveRequest. tools/call becomes a call, which starts a run
// and has a follower send the client what the run's log says: for clients up to
// 2025-11-25 as a directCall says, for modern ones as a roundTrip says.
package mcp

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/changes"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
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
	// Upstreams has the other servers whose tools are among the photons, and what else
	// they offer; nil if there are none.
	Upstreams *catalogue.Catalogue
	// Configure is called with mcp-go's server before it serves, to add prompts,
	// resources and completions. It may be nil.
	Configure func(*server.MCPServer)
	// TraceContext returns a context that belongs to the trace of a request. It is nil
	// if nothing is traced.
	TraceContext func(context.Context, runlog.Trace) context.Context
	AskPolicy    AskPolicy
	// Apps says how runs are shown in the chats of clients.
	Apps Apps
	// SignInHint is a sentence that says how the user signs in to Beam's pages, for the
	// results that hold their addresses; empty for none.
	SignInHint string
	// Streams bounds the requests and streams of callers over HTTP; nil is a budget with
	// the default limit.
	Streams *budget.Budget
	Logger  *slog.Logger // nil discards
}

// A Server serves MCP. Its methods may be called concurrently.
type Server struct {
	engine         *engine.Engine
	photons        *generators.Registry
	library        *server.MCPServer
	stateSealer    *requeststate.Sealer
	implementation mcp.Implementation
	traceContext   func(context.Context, runlog.Trace) context.Context
	askPolicy      AskPolicy
	apps           Apps
	viewWaits      atomic.Int64 // calls of apps.ReadTool that wait
	signInHint     string
	streams        *budget.Budget
	upstreams      *catalogue.Catalogue // nil if there are none
	only           string               // the upstream that is served alone; empty for all photons
	logger         *slog.Logger
	lastRequestID  atomic.Uint64
	lastCallNumber atomic.Uint32 // see call.number

	registerMu sync.Mutex                    // held while the tools are registered with the library
	registered map[string]*generators.Photon // by the names of their tools; guarded by registerMu

	tasks          *tasks.Service
	changes        changes.Hub
	unwatchPhotons func()
	unwatchServers func() // nil without upstreams

	mu            sync.Mutex
	sessions      map[string]*session // of HTTP clients, by Mcp-Session-Id
	stdioSessions map[*session]struct{}
	alone         map[string]*Server // the servers of single upstreams, by name
	config        Config             // for those

	closed context.Context
	cancel context.CancelFunc
}

// listPageSize is the maximum number of tools, prompts or resources on one page of a
// list.
const listPageSize = 500

// New returns a server. The caller must close it.
func New(c Config) (*Server, error) { return newServer(c, "") }

// newServer returns a server of all photons, or of the only upstream's tools, if that is
// not empty.
func newServer(c Config, only string) (*Server, error) {
	sealer, err := requeststate.NewSealer(c.StateSecret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: c.Engine, photons: c.Photons, stateSealer: sealer, traceContext: c.TraceContext, logger: c.Logger,
		askPolicy:      c.AskPolicy,
		apps:           c.Apps,
		signInHint:     c.SignInHint,
		upstreams:      c.Upstreams,
		only:           only,
		config:         c,
		alone:          map[string]*Server{},
		implementation: mcp.Implementation{Name: c.Name, Version: c.Version},
		sessions:       map[string]*session{},
		stdioSessions:  map[*session]struct{}{},
	}
	if s.streams = c.Streams; s.streams == nil {
		s.streams = budget.New(budget.Streams, budget.DefaultStreams)
	}
	s.lastCallNumber.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may still know numbers of an earlier process
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.tasks = tasks.NewService(tasks.Config{Engine: c.Engine, Photons: c.Photons, Implementation: s.implementation, Link: c.AskPolicy.Link, MapUI: s.mapUI, Logger: s.logger})
	s.closed, s.cancel = context.WithCancel(context.Background())
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		s.completeToolList(ctx, r)
	})
	hooks.AddOnError(noteMissingResource)
	options := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithToolFilter(s.filterTools), server.WithLogging(), server.WithRecovery(), server.WithHooks(hooks),
		server.WithPaginationLimit(listPageSize), server.WithInstructions(c.Instructions),
		server.WithResourceCapabilities(true, true),
	}
	s.library = server.NewMCPServer(c.Name, c.Version, options...)
	if only == "" {
		s.addArtifactTemplate()
	}
	if c.Upstreams != nil {
		server.WithPromptCapabilities(true)(s.library)
		server.WithCompletions()(s.library)
	}
	if err := s.configureLibrary(c.Configure); err != nil {
		return nil, err
	}
	s.unwatchPhotons = s.photons.Watch(s.registerTools)
	s.registerTools()
	s.watchUpstreams()
	if err := s.watchLibrary(); err != nil { // after the first tools, which are no change
		s.Close()
		return nil, err
	}
	go s.endIdleSessions()
	return s, nil
}

// Close ends all sessions and streams.
func (s *Server) Close() {
	s.unwatchPhotons()
	if s.unwatchServers != nil {
		s.unwatchServers()
	}
	s.cancel()
	s.mu.Lock()
	sessions, alone := s.sessions, s.alone
	s.sessions, s.alone = map[string]*session{}, nil
	s.mu.Unlock()
	for _, a := range alone {
		a.Close()
	}
	for _, sess := range sessions {
		sess.endSession(requests.ErrSessionEnded)
	}
}

// nextRequestID returns an id for a request of this server.
func (s *Server) nextRequestID() string {
	return "beam-" + strconv.FormatUint(s.lastRequestID.Add(1), 10)
}
