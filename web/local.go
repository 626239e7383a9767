package web

import (
	"net"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/internal/links"
)

// errNotLocal is the error for a request from another machine to a server that doesn't
// know who sends it.
var errNotLocal = statusErrorf(http.StatusForbidden, "Beam serves only requests from its own machine until it can tell who sends them: "+
	"start it with --token or, in a program of your own, set Config.Identify or Config.Token.")

// isLocal reports whether a request comes from a program on this machine, as far as it can
// be told: over the loopback interface or within the process, and not through a proxy.
func isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return (err == nil && links.IsLoopback(host) || r.RemoteAddr == pipeAddr) && !isForwarded(r)
}

// pipeAddr is the address of both ends of a [net.Pipe].
const pipeAddr = "pipe"

// isForwarded reports whether a request came through a proxy. Some proxies add no header,
// but many versions of nginx then forward requests as HTTP/1.0, which browsers and
// libraries don't use.
func isForwarded(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	for name := range r.Header {
		if forwardingHeaders[name] || strings.HasPrefix(name, "X-Forwarded") {
			return true
		}
	}
	return false
}

// forwardingHeaders are the headers that proxies add, besides those whose names begin with
// X-Forwarded. The names are canonical.
var forwardingHeaders = map[string]bool{
	"Forwarded": true, "Via": true, "X-Real-Ip": true, "X-Client-Ip": true, "X-Original-Forwarded-For": true,
	"True-Client-Ip": true, "Cf-Connecting-Ip": true, "Fastly-Client-Ip": true, "X-Cluster-Client-Ip": true,
}
