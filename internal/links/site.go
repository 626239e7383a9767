package links

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// A Site is where browsers reach Beam. The zero value is the root of an unknown host.
type Site struct {
	// Origin is the scheme and the host, such as "https://example.com"; empty if only the
	// path is known.
	Origin string
	// Path precedes the path of every page; empty at the root of the host.
	Path Base
}

// pathPattern matches the paths that need no escaping anywhere: in a URL, an attribute or
// a cookie.
var pathPattern = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$`)

// hostPattern matches the hosts that browsers send as they are: a name, in ASCII, or an IP
// address, with or without a port.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?$`)

// maxURL is the length of the longest URL of a site, in bytes. Browsers ignore a longer path
// of a cookie.
const maxURL = 1000

// ParseSite parses the URL of a site, such as "https://example.com/beam", or the path
// alone, such as "/beam". A trailing slash makes no difference.
func ParseSite(raw string) (Site, error) {
	if raw == "" {
		return Site{}, nil
	}
	if len(raw) > maxURL {
		return Site{}, fmt.Errorf("it is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return Site{}, errors.New("it can't be parsed")
	}
	hasOrigin := (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	switch {
	case !hasOrigin && (u.Scheme != "" || u.Host != "" || !strings.HasPrefix(raw, "/")):
		return Site{}, errors.New("it must begin with https://, http:// or, if only the path is known, with /")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return Site{}, errors.New("it may have only a scheme, a host and a path")
	case hasOrigin && !hostPattern.MatchString(u.Host):
		return Site{}, errors.New("its host must be a name of letters, digits and hyphens (xn--… for other characters) or an IP address, and a port if it has one")
	case !pathPattern.MatchString(u.EscapedPath()):
		return Site{}, errors.New("the parts of its path may consist of letters, digits, hyphens, periods, underscores and tildes, and may not begin with a period")
	}
	site := Site{Path: Base(strings.TrimSuffix(u.Path, "/"))}
	if !hasOrigin {
		return site, nil
	}
	site.Origin = u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Host, defaultPorts[u.Scheme]))
	return site, nil
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// Base returns the base of links that leave Beam's pages; ok is false if the host is not
// known.
func (s Site) Base() (b Base, ok bool) {
	if s.Origin == "" {
		return "", false
	}
	return Base(s.Origin) + s.Path, true
}

// Secure reports whether browsers are known to reach the site over TLS.
func (s Site) Secure() bool { return strings.HasPrefix(s.Origin, "https:") }

// Host returns the name of the host, without its port; empty if it is not known.
func (s Site) Host() string {
	u, err := url.Parse(s.Origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// ParseHost parses the name or the IP address of a host, as requests are compared with it:
// in lower case, and without brackets.
func ParseHost(raw string) (string, error) {
	if ip, err := netip.ParseAddr(strings.Trim(raw, "[]")); err == nil {
		return ip.String(), nil
	}
	if raw == "" || strings.ContainsAny(raw, "/:*?#@[] ") {
		return "", errors.New("it must be a name, such as tools.example, or an IP address, without a scheme or a port")
	}
	return strings.ToLower(raw), nil
}

// ParseOrigin parses the origin of web pages, and returns it as browsers send it.
func ParseOrigin(raw string) (string, error) {
	site, err := ParseSite(raw)
	if err == nil && (site.Origin == "" || site.Path != "") {
		err = errors.New("it must be a scheme and a host, and a port if it is not the scheme's own, such as https://client.example")
	}
	return site.Origin, err
}

// IsLoopback reports whether a host is reached over the loopback interface only. Host is
// a name or an IP address.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Strip returns the path of a request without that of the site; ok is false if the path
// doesn't begin with it.
func (s Site) Strip(path string) (stripped string, ok bool) {
	rest, found := strings.CutPrefix(path, string(s.Path))
	if !found || rest != "" && rest[0] != '/' {
		return path, false
	}
	return rest, true
}

// String returns the URL, or the path alone.
func (s Site) String() string { return fmt.Sprint(s.Origin, s.Path) }
