package web

import (
	"net/http"

	"github.com/photon-beam/beam/internal/engine"
)

// An MCPHandler serves the MCP endpoint to an authenticated caller. BaseURL is the URL of
// Beam's pages as the client reaches them.
type MCPHandler interface {
	ServeHTTP(w http.ResponseWriter, r *http.Request, caller engine.Caller, baseURL string)
}

// handleMCP serves the MCP endpoint. Its host and origin have been checked. The runs that
// clients start belong to the token's owner or, if no token is required, to the
// operator: a client that can reach the loopback address runs on the operator's machine.
func (s *Server) handleMCP(w http.ResponseWriter, r *http.Request) error {
	caller := engine.Caller{Operator}
	if _, presented := bearerToken(r); presented || s.sessions.token != "" {
		var err error
		if caller, err = s.sessions.identify(w, r); err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="Beam"`)
			return err
		}
	}
	s.mcpHandler.ServeHTTP(w, r, caller, baseURL(r))
	return nil
}
