package web

import (
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/site"
)

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
