// Package web serves the playground: pages that show runs and ask questions, and the
// HTTP interface for scripts. It renders the log and keeps no state of its own but
// browser sessions.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/static"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/identity/openid"
	"github.com/photon-beam/beam/web/internal/problem"
)

// Config configures a server. Engine, Photons and Keys are required.
type Config struct {
	Engine  *engine.Engine
	Photons *generators.Registry
	Keys    identity.Keys
	// Hosts are the host names that requests may name besides those of the loopback
	// interface. Ports are not compared.
	Hosts []string
	// Token, if set, is required from every client: as a Bearer token, or from
	// browsers on the sign-in page.
	Token string
	// Identify, if set, identifies the callers of requests in place of sessions, sign-in
	// codes and the token; see [identity.Identifier].
	Identify identity.Identifier
	// Users are the people who sign in with tokens of their own; nil for none.
	Users *users.Store
	// OpenID lets people sign in with an identity provider; nil for none.
	OpenID *openid.Provider
	// Audit records who signs in, and who is refused; nil for none.
	Audit *audit.Log
	// Authenticators know further callers than those of sessions and the token. They are
	// asked first, and requests that neither they nor sessions know are refused: everyone
	// has to sign in. They are not used with Identify.
	Authenticators []callers.Authenticator
	// OAuth verifies the access tokens that MCP clients present; nil if they have none. Site
	// must then have a host.
	OAuth *oauth.Verifier
	// AllowedOrigins are the origins, besides the site's, whose pages may be MCP clients.
	AllowedOrigins []string
	// Ready returns an error while the server can't serve requests; nil if it always
	// can until it closes.
	Ready func() error
	// Sampling sends questions to configured models; nil if there are none.
	Sampling *sampling.Service
	// MCP serves the MCP endpoint; nil if there is none.
	MCP MCPHandler
	// Metrics serves the metrics; nil if there are none.
	Metrics http.Handler
	// Upstreams are the MCP servers whose tools are among Photons; nil if there are none.
	Upstreams Upstreams
	// Version is Beam's, for the page of settings.
	Version string
	// Program is how MCP clients start this program; zero if they don't.
	Program connect.Entry
	// Site is where browsers reach the server. Requests may arrive with its path, or
	// without it, as through a proxy that removes it.
	Site links.Site
	// SignInCommand is the command that prints a sign-in address, for the sign-in page;
	// empty if there is none.
	SignInCommand string
	// SignInAttempts is how many wrong credentials an address may present before it has to
	// wait; zero means the default. The address of a request that comes from one of the
	// TrustedProxies is the one that the proxy says.
	SignInAttempts int
	TrustedProxies []netip.Prefix
	// Streams bounds the streams of callers; nil is a budget with the default limit.
	Streams *budget.Budget
	Logger  *slog.Logger // nil discards
}

// A Server serves the playground. It is safe for concurrent use.
type Server struct {
	engine         *engine.Engine
	sampling       *sampling.Service // nil if no models are configured
	photons        *generators.Registry
	lastPhotons    atomic.Pointer[photonList] // the one made last
	site           links.Site
	links          links.Base // of the pages: the path of the site
	localOnly      bool       // serves only requests from this machine
	sessions       *identity.Sessions
	users          *users.Store     // nil for none
	openID         *openid.Provider // nil for none
	audit          *audit.Log       // nil for none
	live           *liveRequests
	identifier     identity.Identifier // nil if sessions identify callers
	requiresSignIn bool                // nobody is served who isn't known
	// authenticators know who sends the requests of browsers and scripts, and
	// programAuthenticators who sends those of programs. credentialAuthenticators know
	// only callers whose credentials a browser doesn't add by itself.
	authenticators, programAuthenticators, credentialAuthenticators callers.Chain

	oauth          *oauth.Verifier // nil if MCP clients have no access tokens
	allowedOrigins []string        // whose pages may be MCP clients
	signInCodes    *identity.SignInCodes
	unacknowledged unacknowledged
	streamSlots    *streamSlots
	streams        *budget.Budget
	throttle       *signin.Throttle
	trustedProxies []netip.Prefix
	inputSummaries *inputSummaries
	readers        chan struct{} // of tables and trees, each with a place in it
	hosts          []string
	signInCommand  string
	version        string
	program        connect.Entry // how MCP clients start this program; zero if they don't
	logger         *slog.Logger
	handler        http.Handler
	checkReady     func() error
	// mcpHandler serves the MCP endpoint; nil if there is none.
	mcpHandler MCPHandler
	// metricsHandler serves the metrics; nil if there are none.
	metricsHandler http.Handler
	upstreams      Upstreams // nil if there are none
	// streamsContext is done when the server closes, which ends the streams.
	streamsContext context.Context
	closeStreams   context.CancelFunc
}

// New returns a server.
func New(c Config) (*Server, error) {
	s := &Server{
		engine: c.Engine, sampling: c.Sampling, photons: c.Photons, site: c.Site, links: c.Site.Path, identifier: c.Identify, users: c.Users, openID: c.OpenID, audit: c.Audit, oauth: c.OAuth, allowedOrigins: c.AllowedOrigins,
		signInCodes: identity.NewSignInCodes(), streamSlots: newStreamSlots(), inputSummaries: newInputSummaries(),
		hosts: c.Hosts, signInCommand: c.SignInCommand, program: c.Program, version: c.Version, logger: c.Logger, mcpHandler: c.MCP, checkReady: c.Ready, metricsHandler: c.Metrics, upstreams: c.Upstreams,
	}
	s.requiresSignIn = c.Token != "" || c.Users != nil || c.OpenID != nil || len(c.Authenticators) > 0
	s.localOnly = !s.requiresSignIn && c.Identify == nil // nobody says who they are
	s.sessions = identity.NewSessions(identity.SessionConfig{
		Keys: c.Keys, Token: c.Token, Users: usersOrNil(c.Users), Persons: c.OpenID != nil, Required: s.requiresSignIn, Site: s.site,
	})
	s.newAuthenticators(c)
	s.live, s.readers = newLiveRequests(), make(chan struct{}, maxReaders)
	if s.users != nil {
		s.users.OnChange(s.handleChangedUsers)
	}
	if s.streams = c.Streams; s.streams == nil {
		s.streams = budget.New(budget.Streams, budget.DefaultStreams)
	}
	if host := s.site.Host(); host != "" {
		s.hosts = append(slices.Clip(s.hosts), host)
	}
	s.streamsContext, s.closeStreams = context.WithCancel(context.Background())
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(gzhttp.DefaultContentTypeFilter), gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.throttle, s.trustedProxies = signin.New(c.SignInAttempts, s.logger), c.TrustedProxies
	routes := s.routes(func(h http.Handler) http.Handler { return compress(h) })
	if err := s.checkPath(routes); err != nil {
		return nil, err
	}
	s.handler = s.guardRequests(s.redirectToCleanPaths(routes))
	return s, nil
}

// Limits on slow clients. Handlers limit how long they read a body; streams limit each
// of their writes.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute // between two requests on a connection
	maxHeader     = 64 << 10        // bytes
)

// NewHTTPServer returns an HTTP server for s with limits that protect it from slow and
// broken clients. The caller listens.
func (s *Server) NewHTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

// HasScript reports whether the Datastar bundle is present, which is not part of the
// source tree. Pages work without it, but don't update themselves.
func (s *Server) HasScript() bool { return static.HasDatastar() }

// SignInCounts returns how many credentials were wrong, and how many were refused unseen.
func (s *Server) SignInCounts() (wrong, refused int64) {
	c := s.throttle.Counts()
	return c.Wrong, c.Refused
}

// Close ends all streams, so that the HTTP server can shut down.
func (s *Server) Close() { s.closeStreams() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.stripSitePath(r)
	ctx := engine.WithMaxWait(links.WithBase(r.Context(), s.links), engine.TurnWait)
	s.handler.ServeHTTP(w, r.WithContext(ctx))
}

func (s *Server) routes(compress func(http.Handler) http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	page := func(pattern string, h callerHandler) { mux.Handle(pattern, compress(s.authenticated(h))) }
	page("GET /{$}", s.handleHome)
	page("GET /find", s.handleFind)
	page("GET /settings", s.handleSettings)
	mux.Handle("POST /settings", s.authenticated(s.handleChangeSettings))
	page("GET /docs", s.handleDocs)
	page("GET /docs/{name}", s.handleDoc)
	page("GET /photons/{name}", s.handlePhoton)
	page("GET /photons/{name}/connect", s.handleConnect)
	page("GET /photons/{name}/api", s.handleAPI)
	page("GET /runs", s.handleRuns)
	page("GET /runs/{id}", s.handleRun)
	page("GET /runs/{id}/messages", s.handleMessages)
	page("GET /runs/{id}/messages/{seq}", s.handleMessage)
	mux.Handle("POST /runs/{id}/replay", s.authenticated(s.handleReplay))
	page("GET /runs/{id}/delete", s.handleAskDelete)
	mux.Handle("POST /runs/{id}/delete", s.authenticated(s.handleDelete))
	page("GET /runs/{id}/export", s.handleExport)
	page("GET /asks", s.handleInbox)
	page(askPattern, s.handleAsk)
	s.routeUpstreams(page, mux)
	if s.sampling != nil {
		page("GET /models", s.handleModels)
		mux.Handle("POST /models/standing/{id}/revoke", s.authenticated(s.handleRevoke))
		mux.Handle("POST /asks/{id}/sampling", s.authenticated(s.handleSampling))
	}
	mux.Handle("POST /photons/{name}/runs", s.authenticated(s.handleStart))
	mux.Handle("POST /photons/{name}/form", s.authenticated(s.handleEditForm))
	mux.Handle("GET /photons/{name}/form", s.authenticated(s.handleEditedForm))
	mux.Handle("POST /runs/{id}/cancel", s.authenticated(s.handleCancel))
	mux.Handle("POST /runs/{id}/adopt", s.authenticated(s.handleAdopt))
	mux.Handle("POST /mcp/request", s.authenticated(s.handleAnswer))
	if s.mcpHandler != nil {
		mux.Handle("/mcp", s.authenticatedClient(s.handleMCP))
		mux.Handle("/mcp/u/{name}", s.authenticatedClient(s.handleUpstreamMCP))
	}
	if s.mcpHandler != nil && s.oauth != nil {
		s.routeResources(mux)
	}
	mux.Handle("GET /runs/{id}/events", s.authenticated(s.handleEvents))
	mux.Handle("GET /runs/{id}/log", s.authenticated(s.handleLog))
	mux.Handle("GET /updates", s.authenticated(s.handleUpdates))
	for path, open := range map[string]contentOpener{
		"/runs/{id}/result": s.openResult, "/runs/{id}/artifacts/{seq}": s.openArtifact, "/asks/{id}/evidence/{n}": s.openEvidence,
	} {
		mux.Handle("GET "+path, s.authenticated(open.with(handleContent)))
		page("GET "+path+"/view", open.with(s.handleContentView))
		page("GET "+path+"/chart.svg", open.with(handleChartSVG))
	}
	if s.identifier == nil {
		mux.Handle("GET /login", s.unauthenticated(s.handleLogin))
		mux.Handle("POST /login", s.unauthenticated(s.handleTokenLogin))
		mux.Handle("POST /logout", s.unauthenticated(s.handleLogout))
		page("GET /account", s.handleAccount)
		if s.openID != nil {
			mux.Handle("GET /login/openid", s.unauthenticated(s.handleOpenIDLogin))
			mux.Handle("GET /login/callback", s.unauthenticated(s.handleOpenIDCallback))
		}
	}
	serveAsset := func(w http.ResponseWriter, r *http.Request) { assets.Pages().ServeHTTP(w, r) }
	mux.HandleFunc("GET /static/", serveAsset)
	mux.HandleFunc("GET /static", serveAsset) // which has no such file; otherwise mux would redirect it
	mux.HandleFunc("GET /healthz", writeOK)
	mux.Handle("GET /readyz", s.unauthenticated(s.handleReady))
	if s.metricsHandler != nil {
		mux.Handle("GET /metrics", s.authenticatedProgram(s.handleMetrics))
	}
	mux.Handle("/", s.unauthenticated(handleUnmatched(mux)))
	return mux
}

// handleUnmatched handles requests that match no route. For a known path it returns the
// methods allowed.
func handleUnmatched(mux *http.ServeMux) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if allowed == nil {
			return problem.ErrPageNotFound
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.Errorf(http.StatusMethodNotAllowed, "This URL allows %s, not %s.", strings.Join(allowed, " and "), r.Method)
	}
}
