package web

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/site"
)

// monitoring serves those who watch the server.
type monitoring struct {
	engine     *engine.Engine
	callers    *access.Callers
	metrics    http.Handler // nil if there are none
	checkReady func() error // nil if it is always ready until it closes
	logger     *slog.Logger
}

// serveMetrics serves the metrics. They contain no user data. Of callers that the
// program that embeds Beam identifies, only operators may read them.
func (m *monitoring) serveMetrics(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if (m.callers.OwnSignIn || callers.IsPerson(caller)) && !caller.HasRole(generators.RoleOperator) {
		return callers.ErrForbidden
	}
	m.metrics.ServeHTTP(w, r)
	return nil
}

func writeOK(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// serveReady fails once the engine accepts no more runs, and while runs can't be
// recorded.
func (m *monitoring) serveReady(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-m.engine.Closing():
		return engine.ErrClosing
	default:
	}
	if m.checkReady != nil {
		if err := m.checkReady(); errors.Is(err, runlog.ErrDiskFull) {
			return err
		} else if err != nil {
			m.logger.Error("not ready", "err", err)
			return problem.Errorf(http.StatusServiceUnavailable, "Runs can't be recorded. See the log for details.")
		}
	}
	writeOK(w, r)
	return nil
}

// An MCPHandler serves the MCP endpoint to an authenticated caller. BaseURL is the URL of
// Beam's pages as the client reaches them.
type MCPHandler interface {
	ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, baseURL string)
	// ServeUpstreamHTTP serves the endpoint of a single upstream.
	ServeUpstreamHTTP(w http.ResponseWriter, r *http.Request, upstream string, caller generators.Caller, baseURL string)
	// EachClient calls add with each client of the caller's that is connected: its name, how, and how
	// many questions it has yet to answer.
	EachClient(caller generators.Caller, add func(name, transport string, awaited int))
}

// An mcpEndpoint serves the MCP endpoints.
type mcpEndpoint struct {
	handler MCPHandler
	site    *site.Site
}

// serve serves the MCP endpoint. The runs that clients start belong to the token's
// owner or, if no token is required, to the operator.
func (m *mcpEndpoint) serve(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	m.handler.ServeHTTP(w, r, caller, m.site.BaseURL(r))
	return nil
}

// serveUpstream serves the MCP endpoint of a single upstream.
func (m *mcpEndpoint) serveUpstream(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	m.handler.ServeUpstreamHTTP(w, r, r.PathValue("name"), caller, m.site.BaseURL(r))
	return nil
}
