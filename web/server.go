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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/static"
)

// Config sets up a server. Engine, Photons and Keys are required.
type Config struct {
	Engine  *run.Engine
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
	engine    *run.Engine
	photons   *generators.Registry
	assets    *static.Set
	sessions  *sessions
	signIns   *signIns
	seats     *seats
	inputs    *inputs
	hosts     []string
	program   string
	logger    *slog.Logger
	handler   http.Handler
	readiness func() error
	// mcpHandler serves the MCP endpoint; nil if there is none.
	mcpHandler MCPHandler
	// metricsHandler serves the metrics; nil if there are none.
	metricsHandler http.Handler
	// closed ends the streams.
	closed context.Context
	close  context.CancelFunc
}

// New returns a server.
func New(c Config) (*Server, error) {
	s := &Server{
		engine: c.Engine, photons: c.Photons, assets: static.Assets(),
		sessions: newSessions(c.Keys, c.Token), signIns: newSignIns(), seats: newSeats(), inputs: newInputs(),
		hosts: c.Hosts, program: cmp.Or(c.Program, "beam"), logger: c.Logger, mcpHandler: c.MCP, readiness: c.Ready, metricsHandler: c.Metrics,
	}
	s.closed, s.close = context.WithCancel(context.Background())
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(gzhttp.DefaultContentTypeFilter), gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.handler = s.guard(s.routes(func(h http.Handler) http.Handler { return compress(h) }))
	return s, nil
}

// Scripted tells whether the pages have their script: the Datastar bundle is
// not part of the source tree. Without it they still work, plainly.
func (s *Server) Scripted() bool { return s.assets.Has(bundle) }

const bundle = "vendor/datastar.js"

// Close ends all streams, so that the HTTP server can shut down. Their readers
// come back, to whoever listens then.
func (s *Server) Close() { s.close() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) routes(compress func(http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	page := func(pattern string, h handler) { mux.Handle(pattern, compress(s.handle(h))) }
	page("GET /{$}", s.home)
	page("GET /photons/{name}", s.photon)
	page("GET /runs", s.runs)
	page("GET /runs/{id}", s.runPage)
	page("GET /asks", s.asks)
	page("GET /asks/{id}", s.askPage)
	mux.Handle("POST /photons/{name}/runs", s.handle(s.start))
	mux.Handle("POST /runs/{id}/cancel", s.handle(s.cancelRun))
	mux.Handle("POST /mcp/request", s.handle(s.answer))
	if s.mcpHandler != nil {
		mux.Handle("/mcp", s.handleOpen(s.mcp))
	}
	mux.Handle("GET /runs/{id}/events", s.handle(s.events))
	mux.Handle("GET /updates", s.handle(s.updates))
	mux.Handle("GET /runs/{id}/artifacts/{seq}", s.handle(s.artifact))
	mux.Handle("GET /login", s.handleOpen(s.login))
	mux.Handle("POST /login", s.handleOpen(s.loginToken))
	mux.Handle("GET /static/", s.assets)
	mux.HandleFunc("GET /healthz", ok)
	mux.Handle("GET /readyz", s.handleOpen(s.ready))
	if s.metricsHandler != nil {
		mux.Handle("GET /metrics", s.handleOpen(s.metrics))
	}
	mux.Handle("/", s.handleOpen(nothing(mux)))
	return mux
}

func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// ready is not ready once the engine takes no more runs, or while they can't be
// recorded.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-s.engine.Closing():
		return run.ErrClosing
	default:
	}
	if s.readiness != nil {
		if err := s.readiness(); errors.Is(err, log.ErrFull) {
			return err
		} else if err != nil {
			s.logger.Error("not ready", "err", err)
			return refuse(http.StatusServiceUnavailable, "Runs can't be recorded now; the log says why.")
		}
	}
	ok(w, r)
	return nil
}

// nothing answers what no route matches. A known address that is asked with
// another method is told which it takes.
func nothing(mux *http.ServeMux) func(http.ResponseWriter, *http.Request) error {
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
			return errNoPage
		}
		w.Header().Set("Allow", strings.Join(takes, ", "))
		return refuse(http.StatusMethodNotAllowed, "This address takes %s, not %s.", strings.Join(takes, " and "), r.Method)
	}
}
