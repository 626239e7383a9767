package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// contentSecurityPolicy is the content security policy of every page: our own files only.
// Datastar compiles the expressions in our own attributes, hence unsafe-eval.
const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guardRequests refuses, before any routing, requests that name another host (DNS
// rebinding) and requests that another site's page made (cross-site request
// forgery), sets the headers that every response has, and bounds how long the
// request may take to arrive.
func (s *Server) guardRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitBodyTime(w, r)
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		// Not no-referrer: browsers then say "Origin: null" of our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !s.isAllowedHost(r.Host) {
			s.writeError(w, r, statusErrorf(http.StatusForbidden, "The host %q is not one that Beam answers to; allow it with --allow-host.", r.Host))
			return
		}
		if needsSameOrigin(r) && !isSameOrigin(r) {
			s.writeError(w, r, statusErrorf(http.StatusForbidden, "This request came from another site's page."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isAllowedHost holds the Host header against the allowlist.
func (s *Server) isAllowedHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return slices.Contains(s.hosts, host)
}

// needsSameOrigin tells requests that change something, and those whose response is
// a stream that a foreign page could keep open.
func needsSameOrigin(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return true
	}
	p := r.URL.Path
	return p == "/mcp" || p == "/updates" || strings.HasSuffix(p, "/events")
}

// isSameOrigin tells whether a request comes from one of our own pages, or from
// no page at all, as a script's does.
func isSameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true // the browser says so itself, and TLS may end before us
	case "":
	default:
		return false
	}
	origin, sent := r.Header["Origin"]
	if !sent {
		return true
	}
	u, err := url.Parse(strings.Join(origin, ","))
	return err == nil && u.Host == r.Host && u.Scheme == requestScheme(r)
}

func requestScheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// baseURL is what addresses of this server begin with, as the caller sees it.
func baseURL(r *http.Request) string { return requestScheme(r) + "://" + r.Host }
