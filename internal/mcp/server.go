// Package mcp implements Beam's MCP server. It serves the photons of a registry as
// tools, over stdio and HTTP, in every version of the protocol from 2025-03-26 to
// 2026-07-28. The code calls clients of 2026-07-28, which have no session, modern.
//
// A message arrives at a stdioConn or an httpHandler, in a session. A request goes through
// a dispatcher to the handler of its method: the greeter, the toolList, the offers, the
// resources, the listener, or package calls, which serves tools/call and tasks.
//
// mcp-go provides the protocol's types, and the server on which a program registers
// prompts and resources of its own; see library.
package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/calls"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/streamable"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// Config configures a server. Engine, Photons and StateSecret are required.
type Config struct {
	Engine  *engine.Engine
	Photons *registry.Registry
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
	// Sessions has the sessions over HTTP that other processes serve, too; nil if none do.
	Sessions smallstate.Store
	// Streams bounds the requests and streams of callers over HTTP; nil is a budget with
	// the default limit.
	Streams *budget.Budget
	Logger  *slog.Logger // nil discards
}

// These belong to a server's configuration.
type (
	AskPolicy = calls.AskPolicy
	Apps      = calls.Chat
)

// The names of Beam's own tools.
const (
	ResumeTool = calls.ResumeTool
	CancelTool = calls.CancelTool
)

// DefaultAskPolicy returns the policy that sends links and hands calls off.
func DefaultAskPolicy() AskPolicy { return calls.DefaultAskPolicy() }

// A Server serves MCP. Its methods may be called concurrently.
type Server struct {
	config     Config
	calls      *calls.Service
	tasks      *tasks.Service
	dispatcher *dispatcher
	http       *httpHandler
	sessions   *sessions
	changes    *changes.Hub
	unwatch    []func()
	closed     context.Context
	cancel     context.CancelFunc

	mu    sync.Mutex
	alone map[string]*Server // the servers of single upstreams, by name; nil once the server is closed
}

// New returns a server. The caller must close it.
func New(c Config) (*Server, error) { return newServer(c, "") }

// newServer returns a server of all photons, or of the only upstream's tools, if that is
// not empty.
func newServer(c Config, only string) (*Server, error) {
	sealer, err := requeststate.NewSealer(c.StateSecret)
	if err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Streams == nil {
		c.Streams = budget.New(budget.Streams, budget.DefaultStreams)
	}
	if !c.AskPolicy.AllowsHandoff() || only != "" { // the view shows calls that were handed off
		c.Apps.View = nil
	}
	library, err := newLibrary(c)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, changes: new(changes.Hub), alone: map[string]*Server{}}
	s.closed, s.cancel = context.WithCancel(context.Background())
	s.sessions = newSessions(s.changes)
	self := mcp.Implementation{Name: c.Name, Version: c.Version}
	s.tasks = tasks.NewService(tasks.Config{Engine: c.Engine, Photons: c.Photons, Implementation: self, Link: c.AskPolicy.Link, MapUI: uiMapper(only), Logger: c.Logger})
	callsConfig := &calls.Config{
		Engine: c.Engine, Photons: c.Photons, Sealer: sealer, Tasks: s.tasks, Policy: c.AskPolicy, Chat: c.Apps, SignInHint: c.SignInHint,
		Server: self, MapUI: uiMapper(only), Logger: c.Logger,
		Shared: c.Sessions != nil,
	}
	tools := &toolList{engine: c.Engine, photons: c.Photons, upstreams: c.Upstreams, only: only, calls: callsConfig, changes: s.changes, logger: c.Logger}
	callsConfig.FindTool = tools.find
	s.calls = calls.NewService(callsConfig)
	upstreams := &upstreams{catalogue: c.Upstreams, only: only, calls: s.calls, server: self, logger: c.Logger}
	s.dispatcher = &dispatcher{tools: tools, traceContext: c.TraceContext, methods: s.methods(callsConfig, library, tools, upstreams)}
	s.sessions.subscribe = upstreams.subscribe
	if c.Sessions != nil {
		s.sessions.peers = newPeers(c.Sessions, only, s.calls, c.Logger)
		go s.sessions.peers.takeMail(s.closed, s.sessions.receive)
	}
	s.http = &httpHandler{dispatcher: s.dispatcher, sessions: s.sessions, calls: s.calls, streams: c.Streams, closed: s.closed}
	s.unwatch = []func(){c.Photons.Watch(tools.refresh), upstreams.watch(s.changes)}
	tools.refresh()
	if err := library.watch(s.closed, s.reportChange); err != nil {
		s.Close()
		return nil, err
	}
	go s.sessions.endIdle(s.closed, s.sweep)
	return s, nil
}

// sweep removes what is kept of runs and sessions that there are no more.
func (s *Server) sweep(ctx context.Context) {
	s.calls.SweepMarks(ctx)
	if p := s.sessions.peers; p != nil {
		if err := p.sweep(ctx); err != nil {
			s.config.Logger.Error("deleting ended sessions", "err", err)
		}
	}
}

// methods returns how the requests of each method are served.
func (s *Server) methods(c *calls.Config, l library, tools *toolList, u *upstreams) map[string]method {
	var own *artifacts
	if u.only == "" {
		own = &artifacts{engine: c.Engine, logger: c.Logger}
	}
	greeter := &greeter{library: l, chat: &c.Chat, server: c.Server, logger: c.Logger}
	offers := &offers{library: l, chat: &c.Chat, upstreams: u, artifacts: own, server: c.Server}
	resources := &resources{library: l, chat: &c.Chat, artifacts: own, upstreams: u, server: c.Server}
	listener := &listener{library: l, tasks: s.tasks, upstreams: u, changes: s.changes, server: c.Server, closed: s.closed}
	return map[string]method{
		string(mcp.MethodInitialize):             atOnce(legacyOnly, greeter.initialize),
		string(mcp.MethodServerDiscover):         atOnce(modernOnly, greeter.discover),
		string(mcp.MethodPing):                   atOnce(legacyOnly, ping),
		string(mcp.MethodSetLogLevel):            atOnce(legacyOnly, setLogLevel),
		string(mcp.MethodToolsList):              atOnce(always, tools.list),
		string(mcp.MethodToolsCall):              {always, s.calls.ServeToolCall},
		anyTaskMethod:                            {always, s.calls.ServeTaskRequest},
		string(mcp.MethodResourcesList):          atOnce(always, offers.list),
		string(mcp.MethodResourcesTemplatesList): atOnce(always, offers.list),
		string(mcp.MethodPromptsList):            atOnce(always, offers.list),
		string(mcp.MethodResourcesRead):          {always, resources.read},
		string(mcp.MethodResourcesSubscribe):     atOnce(legacyOnly, resources.subscribe),
		string(mcp.MethodResourcesUnsubscribe):   atOnce(legacyOnly, resources.unsubscribe),
		string(mcp.MethodPromptsGet):             {always, libraryUnless(l, u.getPrompt)},
		string(mcp.MethodCompletionComplete):     {always, libraryUnless(l, u.complete)},
		string(mcp.MethodSubscriptionsListen):    atOnce(modernOnly, listener.serve),
	}
}

// reportChange reports a change that mcp-go announces.
func (s *Server) reportChange(n mcp.JSONRPCNotification) {
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
		s.changes.Report(n.Method, "")
	case mcp.MethodNotificationResourceUpdated:
		if uri, ok := n.Params.AdditionalFields["uri"].(string); ok && uri != "" {
			s.changes.Report(n.Method, uri)
		}
	default:
		s.config.Logger.Warn("clients are not notified: only changes of lists and resources can be announced to all", "method", n.Method)
	}
}

// uiMapper returns the function that returns how the ui:// addresses of what a photon
// returns are mapped: not at all if its clients use the upstream's own.
func uiMapper(only string) func(*generators.Photon) func(string) string {
	return func(p *generators.Photon) func(string) string {
		server, ok := msg.ServerOf(p)
		if !ok || only != "" {
			return nil
		}
		return func(uri string) string { return catalogue.JoinUI(server, uri) }
	}
}

// Close ends all sessions and streams.
func (s *Server) Close() {
	for _, unwatch := range s.unwatch {
		unwatch()
	}
	s.cancel()
	s.mu.Lock()
	alone := s.alone
	s.alone = nil
	s.mu.Unlock()
	for _, a := range alone {
		a.Close()
	}
	s.sessions.end()
}

// ServeHTTP serves the MCP endpoint (MCP, Transports, Streamable HTTP) for an
// authenticated caller. The handler that mounts it checks Host, Origin and credentials.
// Origin is the base URL of Beam's pages as the client reaches them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	s.http.serve(w, r, caller, origin)
}

// Alone returns the server of a single upstream: of its tools, resources, prompts and
// completions, under the upstream's own names, and nothing else. Its calls are never
// handed off, since that takes tools of Beam's own. It reports false if there is no such
// upstream, or the caller may not use it.
func (s *Server) Alone(name string, caller generators.Caller) (*Server, bool) {
	c := s.config
	if c.Upstreams == nil || !c.Upstreams.Allows(name, caller) {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.alone[name]; a != nil || s.alone == nil {
		return a, a != nil
	}
	c.Configure, c.AskPolicy.Handoff, c.Instructions = nil, 0, c.Upstreams.Instructions(name)
	a, err := newServer(c, name)
	if err != nil {
		c.Logger.Error("serving an upstream alone", "upstream", name, "err", err)
		return nil, false
	}
	s.alone[name] = a
	return a, true
}

// ServeUpstreamHTTP is [Server.ServeHTTP] for the endpoint of a single upstream.
func (s *Server) ServeUpstreamHTTP(w http.ResponseWriter, r *http.Request, name string, caller generators.Caller, origin string) {
	a, ok := s.Alone(name, caller)
	if !ok {
		streamable.WriteError(w, http.StatusNotFound, nil, msg.Errorf(mcp.INVALID_REQUEST, "there is no such upstream"))
		return
	}
	a.ServeHTTP(w, r, caller, origin)
}

// EachClient calls add with each client of the caller's that has a session: its name, how it
// is connected, and how many of this server's requests it has yet to respond to, in no order. Clients of
// 2026-07-28 over HTTP have no sessions.
func (s *Server) EachClient(caller generators.Caller, add func(name, transport string, awaited int)) {
	s.sessions.eachClient(caller, add)
}
