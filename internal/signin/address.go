package signin

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Address returns where a request comes from: the address of its connection or, if that is
// a trusted proxy's, the last address in X-Forwarded-For that isn't. What anybody else says
// of an address isn't believed. The address is zero if the connection has none.
func Address(r *http.Request, trusted []netip.Prefix) netip.Addr {
	isTrusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	conn, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	from := conn.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !isTrusted(from) {
			break
		}
		a, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			break
		}
		from = a.Unmap().WithZone("")
	}
	return from
}

// parseHop parses an address in X-Forwarded-For, to which some proxies add the port.
func parseHop(hop string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(hop, "[]")); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(hop)
	return a.Addr(), err == nil
}
