// Package trustedproxy knows who sends a request from a header that a reverse proxy in
// front of Beam sets.
package trustedproxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/textproto"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/users"
)

// A Header is the header in which a trusted proxy names the person who sends a request. A
// request with the header from anywhere else is refused, rather than taken as one without:
// somebody has tried to pass for another, or the proxy's address is not the configured one.
type Header struct {
	Name  string // of the header with the person's name
	Roles string // of the header with the person's roles, with commas; empty for none
	// Proxies are the addresses of the proxies, as the direct connection has them.
	Proxies []netip.Prefix
	// Users are the people whom Beam knows; nil for none. Without Roles, a person has the
	// roles there. Who is disabled there is refused.
	Users *users.Store
}

var _ callers.Authenticator = (*Header)(nil)

// Check returns what is wrong with the header.
func (h *Header) Check() error {
	if len(h.Proxies) == 0 {
		return errors.New("no address of a proxy is trusted")
	}
	for _, name := range []string{h.Name, h.Roles} {
		if name == "" && h.Name != "" {
			continue
		}
		valid := name != "" && strings.IndexFunc(name, func(r rune) bool {
			return r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		}) < 0
		if !valid {
			return fmt.Errorf("%q is not the name of a header: it has letters, digits and hyphens, since proxies may take underscores for hyphens", name)
		}
		if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Cookie") || strings.EqualFold(name, "Host") {
			return fmt.Errorf("the header %s means something else", name)
		}
	}
	if strings.EqualFold(h.Name, h.Roles) {
		return errors.New("the headers of the name and the roles must not be the same")
	}
	return nil
}

// Authenticate implements [callers.Authenticator].
func (h *Header) Authenticate(r *http.Request) (generators.Caller, error) {
	names, namesErr := h.values(r, h.Name)
	roles, rolesErr := h.values(r, h.Roles)
	if names == nil && roles == nil {
		return generators.Caller{}, callers.ErrNoCredentials
	}
	switch err := errors.Join(namesErr, rolesErr); {
	case !h.isTrusted(r.RemoteAddr):
		return generators.Caller{}, refuse("The header %s is only for the proxy in front of Beam.", h.Name)
	case err != nil:
		return generators.Caller{}, refuse("The proxy's headers are not valid: %v.", err)
	case len(names) != 1 || len(roles) > 1:
		return generators.Caller{}, refuse("The proxy must send the header %s once.", h.Name)
	}
	return h.caller(names[0], roles)
}

// caller returns the person whom the proxy names.
func (h *Header) caller(name string, roleHeader []string) (generators.Caller, error) {
	if err := checkName(name); err != nil {
		return generators.Caller{}, refuse("The proxy's header %s is not valid: %v.", h.Name, err)
	}
	caller := callers.User(name, nil)
	if h.Users != nil {
		u, known := h.Users.Find(name)
		if known && u.Disabled {
			return generators.Caller{}, callers.ErrForbidden
		}
		// A proxy that ignores case would let people choose which of several they are.
		if lower := strings.ToLower(name); lower != name {
			if _, other := h.Users.Find(lower); other {
				return generators.Caller{}, refuse("The proxy says %q, and the file of users has %q: let the proxy send names as the file has them.", name, lower)
			}
		}
		caller.Roles = u.Roles
	}
	if h.Roles != "" {
		caller.Roles = nil
		for _, text := range roleHeader {
			caller.Roles = append(caller.Roles, splitRoles(text)...)
		}
	}
	caller, err := callers.Check(caller)
	if err != nil {
		return generators.Caller{}, refuse("The proxy's headers are not valid: %v.", err)
	}
	return caller, nil
}

func splitRoles(text string) (roles []string) {
	for role := range strings.SplitSeq(text, ",") {
		if role = strings.TrimSpace(role); role != "" {
			roles = append(roles, role)
		}
	}
	return roles
}

// checkName returns what is wrong with a person's name. A comma would come from a proxy
// that has joined two headers, of which a client sent one.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case strings.TrimSpace(name) != name || strings.Contains(name, ","):
		return errors.New("it has spaces around it, or a comma")
	case !utf8.ValidString(name):
		return errors.New("it is not UTF-8")
	case strings.ContainsFunc(name, isInvisible):
		return errors.New("it has characters that can't be seen")
	case callers.IsReservedName(name):
		return fmt.Errorf("the name %q is reserved", name)
	}
	return nil
}

// isInvisible reports whether a character makes a name another one without being seen.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// values returns the values of a header. It is an error if the request has another one that
// proxies and servers may take for it, with underscores.
func (h *Header) values(r *http.Request, name string) (values []string, err error) {
	if name == "" {
		return nil, nil
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	for key, v := range r.Header {
		switch {
		case key == canonical:
			values = append(values, v...)
		case strings.EqualFold(strings.ReplaceAll(key, "_", "-"), name):
			values, err = append(values, v...), fmt.Errorf("there is a header %q, too", key)
		}
	}
	return values, err
}

// isTrusted reports whether a connection comes from a trusted proxy.
func (h *Header) isTrusted(remote string) bool {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	for _, p := range h.Proxies {
		if p.Contains(from.Addr().Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

func refuse(format string, args ...any) error {
	return &callers.RefusedError{By: "proxy", Text: fmt.Sprintf(format, args...), Forbidden: true}
}
