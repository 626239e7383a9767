package site

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/problem"
)

// errNotLocal is the error for a request from another machine to a server that doesn't
// know who sends it.
var errNotLocal = problem.Errorf(http.StatusForbidden, "Beam serves only requests from its own machine until it can tell who sends them: "+
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
		if isForwardingHeader(name) {
			return true
		}
	}
	return false
}

// isForwardingHeader reports whether a header is one that proxies add. Their names vary,
// also in hyphens and underscores, and clients on this machine send nothing like them.
func isForwardingHeader(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", ""))
	return slices.ContainsFunc(forwardingParts, func(part string) bool { return strings.Contains(name, part) }) || slices.Contains(forwardingHeaders, name)
}

// forwardingParts are parts of the names of headers that say where a request came from, or
// what it was, without hyphens. X-Forwarded-For has many variants.
var forwardingParts = []string{"forwarded", "forwardfor", "clientip", "realip", "remoteip", "remoteaddr", "connectingip", "proxyuserip", "xoriginal", "xenvoy"}

// forwardingHeaders are the other headers that proxies add, without hyphens.
var forwardingHeaders = []string{"via", "cdnloop", "cfray", "xamzntraceid", "xvarnish", "xarrssl", "xscheme", "xurlscheme", "frontendhttps", "xnginxproxy"}
