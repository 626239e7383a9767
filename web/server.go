// Package web is the playground: pages that show runs and ask questions, and
// the HTTP interface that scripts use. It renders what the log says and keeps
// no state of its own but browser sessions.
package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/static"
)

// Config sets up a server. Engine, Photons and Keys are required.
type Config struct {
	Engine  *engine.Engine
	Photons *generators.Registry
	Keys    Keys
	// Hosts are the host names that requests may name besides the loopback
	// ones; a port is not compared.
	Hosts []string
	// Token, if set, must be presented by everybody: as a Bearer token, or by
	// browsers at /login.
	Token string
	// Ready tells why the server should get no requests now; nil if there is
	// never a reason but its end.
	Ready func() error
	// MCP serves the MCP endpoint; nil if there is none.
	MCP MCPHandler
	// Metrics serves the metrics; nil if there are none.
	Metrics http.Handler
	// Program is what the person types to start this, for the sign-in page; empty
	// is beam.
	Program string
	Logger  *slog.Logger // nil discards
}

// Server serves the playground.
type Server struct {
	engine         *engine.Engine
	photons        *generators.Registry
	assets         *static.Set
	sessions       *sessions
	signInCodes    *signInCodes
	streamSlots    *streamSlots
	inputSummaries *inputSummaries
	hosts          []string
	program        string
	logger         *slog.Logger
	handler        http.Handler
	checkReady     func() error
	// mcpHandler serves the MCP endpoint; nil if there is none.
	mcpHandler MCPHandler
	// metricsHandler serves the metrics; nil if there are none.
	metricsHandler http.Handler
	// streamsContext ends the streams.
	streamsContext context.Context
	closeStreams   context.CancelFunc
}

// New returns a server.
func New(c Config) (*Server, error) {
	s := &Server{
		engine: c.Engine, photons: c.Photons, assets: static.Assets(),
		sessions: newSessions(c.Keys, c.Token), signInCodes: newSignInCodes(), streamSlots: newStreamSlots(), inputSummaries: newInputSummaries(),
		hosts: c.Hosts, program: cmp.Or(c.Program, "beam"), logger: c.Logger, mcpHandler: c.MCP, checkReady: c.Ready, metricsHandler: c.Metrics,
	}
	s.streamsContext, s.closeStreams = context.WithCancel(context.Background())
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(gzhttp.DefaultContentTypeFilter), gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.handler = s.guardRequests(s.routes(func(h http.Handler) http.Handler { return compress(h) }))
	return s, nil
}

// HasScript tells whether the pages have their script: the Datastar bundle is
// not part of the source tree. Without it they still work, plainly.
func (s *Server) HasScript() bool { return s.assets.Has(datastarBundle) }

const datastarBundle = "vendor/datastar.js"

// Close ends all streams, so that the HTTP server can shut down. Their readers
// come back, to whoever listens then.
func (s *Server) Close() { s.closeStreams() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) routes(compress func(http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	page := func(pattern string, h callerHandler) { mux.Handle(pattern, compress(s.authenticated(h))) }
	page("GET /{$}", s.handleHome)
	page("GET /photons/{name}", s.handlePhoton)
	page("GET /runs", s.handleRuns)
	page("GET /runs/{id}", s.handleRun)
	page("GET /asks", s.handleInbox)
	page("GET /asks/{id}", s.handleAsk)
	mux.Handle("POST /photons/{name}/runs", s.authenticated(s.handleStart))
	mux.Handle("POST /runs/{id}/cancel", s.authenticated(s.handleCancel))
	mux.Handle("POST /mcp/request", s.authenticated(s.handleAnswer))
	if s.mcpHandler != nil {
		mux.Handle("/mcp", s.unauthenticated(s.handleMCP))
	}
	mux.Handle("GET /runs/{id}/events", s.authenticated(s.handleEvents))
	mux.Handle("GET /updates", s.authenticated(s.handleUpdates))
	mux.Handle("GET /runs/{id}/artifacts/{seq}", s.authenticated(s.handleArtifact))
	mux.Handle("GET /login", s.unauthenticated(s.handleLogin))
	mux.Handle("POST /login", s.unauthenticated(s.handleTokenLogin))
	mux.Handle("GET /static/", s.assets)
	mux.HandleFunc("GET /healthz", writeOK)
	mux.Handle("GET /readyz", s.unauthenticated(s.handleReady))
	if s.metricsHandler != nil {
		mux.Handle("GET /metrics", s.unauthenticated(s.handleMetrics))
	}
	mux.Handle("/", s.unauthenticated(handleUnmatched(mux)))
	return mux
}

func writeOK(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// handleReady is not ready once the engine takes no more runs, or while they can't be
// recorded.
func (s *Server) handleReady(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-s.engine.Closing():
		return engine.ErrClosing
	default:
	}
	if s.checkReady != nil {
		if err := s.checkReady(); errors.Is(err, runlog.ErrDiskFull) {
			return err
		} else if err != nil {
			s.logger.Error("not ready", "err", err)
			return statusErrorf(http.StatusServiceUnavailable, "Runs can't be recorded now; the log says why.")
		}
	}
	writeOK(w, r)
	return nil
}

// handleUnmatched answers what no route matches. A known address that is asked with
// another method is told which it takes.
func handleUnmatched(mux *http.ServeMux) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var takes []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				takes = append(takes, method)
			}
		}
		if takes == nil {
			return errPageNotFound
		}
		w.Header().Set("Allow", strings.Join(takes, ", "))
		return statusErrorf(http.StatusMethodNotAllowed, "This address takes %s, not %s.", strings.Join(takes, " and "), r.Method)
	}
}
