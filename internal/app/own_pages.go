package app

import (
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/links"
)

// ownPages are the base URLs of an app's pages. Its methods may be called from several
// goroutines.
type ownPages struct {
	mu    sync.Mutex
	bases []*url.URL
}

// add adds a base URL, unless it is empty.
func (o *ownPages) add(base string) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bases = append(o.bases, u)
}

// has reports whether an address is that of a page.
func (o *ownPages) has(address *url.URL) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, base := range o.bases {
		under := cleanPath(base.Path)
		if portOf(base) == portOf(address) && isSameHost(base.Hostname(), address.Hostname()) && strings.HasPrefix(cleanPath(address.Path), under) {
			return true
		}
	}
	return false
}

// cleanPath returns a path as browsers request it, with a slash at its end.
func cleanPath(p string) string { return strings.TrimSuffix(path.Clean("/"+p), "/") + "/" }

// isSameHost reports whether two hosts are the same, as all names of this machine's loopback
// interface are.
func isSameHost(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, ".")) || isLoopback(a) && isLoopback(b)
}

func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
		return true // systems connect to themselves then
	}
	return links.IsLoopback(host) || strings.HasSuffix(host, ".localhost")
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
