package web

import (
	"net/http"

	"github.com/photon-beam/beam/internal/engine"
)

// An MCPHandler serves the MCP endpoint to a caller who is known. origin is the
// origin of Beam's pages as the client reaches them.
type MCPHandler interface {
	ServeHTTP(w http.ResponseWriter, r *http.Request, who engine.Caller, origin string)
}

// handleMCP serves the MCP endpoint. Its host and origin have been checked. What its
// clients start belongs to whom the token names or, where none is needed, to
// the operator: a client that can reach the loopback address runs on the
// operator's machine.
func (s *Server) handleMCP(w http.ResponseWriter, r *http.Request) error {
	who := engine.Caller{Operator}
	if _, presented := bearerToken(r); presented || s.sessions.token != "" {
		var err error
		if who, err = s.sessions.identify(w, r); err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="Beam"`)
			return err
		}
	}
	s.mcpHandler.ServeHTTP(w, r, who, baseURL(r))
	return nil
}
