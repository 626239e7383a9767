package web

import (
	"net/http"

	"github.com/photon-beam/beam/generators"
)

// An MCPHandler serves the MCP endpoint to an authenticated caller. BaseURL is the URL of
// Beam's pages as the client reaches them.
type MCPHandler interface {
	ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, baseURL string)
}

// handleMCP serves the MCP endpoint. The runs that clients start belong to the token's
// owner or, if no token is required, to the operator.
func (s *Server) handleMCP(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	s.mcpHandler.ServeHTTP(w, r, caller, s.baseURL(r))
	return nil
}
