package site

import (
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/links"
)

// corsHeaders are the headers of responses to the pages of allowed origins. They permit
// no credentials that browsers add by themselves. A wildcard doesn't cover Authorization.
var corsHeaders = map[string]string{
	"Access-Control-Allow-Methods":  "GET, POST, DELETE",
	"Access-Control-Allow-Headers":  "Authorization, *",
	"Access-Control-Expose-Headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After",
	"Access-Control-Max-Age":        "600",
}

// isForMCPClients reports whether a path is that of an MCP endpoint, or of its metadata.
func isForMCPClients(path string) bool {
	return path == "/mcp" || strings.HasPrefix(path, "/mcp/u/") || strings.HasPrefix(path, links.ResourceMetadata+"/")
}

// acceptOrigin returns the request if a page of an allowed origin sends it, with the
// headers for that page set: without cookies, which the browser may have added for
// somebody who doesn't know of that page. Otherwise it returns nil.
func (s *Site) acceptOrigin(w http.ResponseWriter, r *http.Request) *http.Request {
	if len(s.AllowedOrigins) == 0 || !isForMCPClients(r.URL.Path) {
		return nil
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header["Origin"]
	if len(origin) != 1 || !slices.Contains(s.AllowedOrigins, origin[0]) {
		return nil
	}
	w.Header().Set("Access-Control-Allow-Origin", origin[0])
	for name, value := range corsHeaders {
		w.Header().Set(name, value)
	}
	r = r.WithContext(r.Context()) // a shallow copy
	r.Header = r.Header.Clone()
	r.Header.Del("Cookie")
	return r
}

// isPreflight reports whether a browser asks what another site's page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
