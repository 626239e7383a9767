package site

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
)

// contentSecurityPolicy allows only this site's own files. Datastar compiles the
// expressions in attributes, which needs unsafe-eval.
const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; img-src 'self' data:; media-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Guard rejects, before routing, requests for another host (DNS rebinding) and requests from
// another site's page (cross-site request forgery), with an error that reject writes. It sets
// the headers of every response and limits how long the request may take to arrive.
func (s *Site) Guard(next http.Handler, reject func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request.LimitBodyTime(w, r)
		setHeaders(w.Header())
		if err := s.checkAddress(r); err != nil {
			reject(w, r, err)
			return
		}
		if client := s.acceptOrigin(w, r); client != nil {
			if isPreflight(r) {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, client)
			return
		}
		if needsSameOrigin(r) && !s.isSameOrigin(r) {
			reject(w, r, problem.Errorf(http.StatusForbidden, "Cross-site requests are not allowed."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer, which makes browsers send "Origin: null" for this site's forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// checkAddress returns an error for a request from another machine that isn't served, or for
// another host.
func (s *Site) checkAddress(r *http.Request) error {
	switch {
	case s.LocalOnly && !isLocal(r):
		return errNotLocal
	case !s.isAllowedHost(r.Host) && !isHealthCheck(r):
		return problem.Errorf(http.StatusForbidden, "The host %q is not allowed. To allow it, start Beam with --allow-host "+
			"or, in a program of your own, name it in Config.URL or Config.Hosts.", r.Host)
	}
	return nil
}

// isHealthCheck reports whether a request asks whether the server works. Those who ask name
// it as they like, such as by the address of a container.
func isHealthCheck(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
}

// isAllowedHost reports whether the Host header names an allowed host.
func (s *Site) isAllowedHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return links.IsLoopback(host) || slices.Contains(s.Hosts, host)
}

// needsSameOrigin reports whether the request changes something or opens a stream, which
// another site's page could keep open.
func needsSameOrigin(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return true
	}
	p := r.URL.Path
	return p == "/mcp" || strings.HasPrefix(p, "/mcp/u/") || p == "/updates" || strings.HasSuffix(p, "/events") || strings.HasSuffix(p, "/log")
}

// isSameOrigin reports whether a request comes from this site's pages or from no page at
// all, such as a script.
func (s *Site) isSameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true // trust the browser: a proxy may terminate TLS, which changes the scheme
	case "":
	default:
		return false
	}
	origin, sent := r.Header["Origin"]
	if !sent {
		return true
	}
	if len(origin) != 1 {
		return false
	}
	return origin[0] == s.requestOrigin(r) || s.Origin != "" && origin[0] == s.Origin // a proxy may change the host
}

// requestOrigin returns the origin that a request is for, as its client sees it: a proxy
// may have ended TLS.
func (s *Site) requestOrigin(r *http.Request) string {
	_, host, _ := strings.Cut(s.Origin, "://")
	switch {
	case host != "" && strings.EqualFold(r.Host, host):
		return s.Origin
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// BaseURL returns the base URL of the pages as the client reaches them.
func (s *Site) BaseURL(r *http.Request) string {
	if base, ok := s.Base(); ok {
		return string(base)
	}
	return s.requestOrigin(r) + s.Path.To("")
}

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
