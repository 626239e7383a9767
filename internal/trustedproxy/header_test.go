package trustedproxy_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/trustedproxy"
	"github.com/photon-beam/beam/internal/users"
)

// The header is taken from the proxy's own connection only, once, and in one spelling.
// Everything else with such a header is refused, never ignored.
func TestAuthenticate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.json")
	err := users.Edit(path, func(f *users.File) error {
		f.Users = []*users.User{{Name: "ada", Roles: []string{"ops"}}, {Name: "gone", Disabled: true}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := users.Open(path, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	plain := trustedproxy.Header{Name: "X-Auth-User", Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32"), netip.MustParsePrefix("fd00::/8")}}
	withRoles, withUsers := plain, plain
	withRoles.Roles, withUsers.Users = "X-Auth-Groups", store
	const proxy = "10.0.0.7:4711"
	for _, tt := range []struct {
		name   string
		header trustedproxy.Header
		from   string
		sent   map[string][]string
		id     string // empty if it is refused
		roles  []string
		err    error
	}{
		{"the proxy", plain, proxy, map[string][]string{"X-Auth-User": {"ada"}}, "user:ada", nil, nil},
		{"the proxy, IPv6", plain, "[fd00::1]:1", map[string][]string{"X-Auth-User": {"ada"}}, "user:ada", nil, nil},
		{"the proxy, IPv4 in IPv6", plain, "[::ffff:10.0.0.7]:1", map[string][]string{"X-Auth-User": {"ada"}}, "user:ada", nil, nil},
		{"roles of the file", withUsers, proxy, map[string][]string{"X-Auth-User": {"ada"}}, "user:ada", []string{"ops"}, nil},
		{"somebody else", withUsers, proxy, map[string][]string{"X-Auth-User": {"eve@example.com"}}, "user:eve@example.com", nil, nil},
		{"another case is another person", plain, proxy, map[string][]string{"X-Auth-User": {"ADA"}}, "user:ADA", nil, nil},
		{"a known person in another case", withUsers, proxy, map[string][]string{"X-Auth-User": {"ADA"}}, "", nil, callers.ErrForbidden},
		{"a disabled user in another case", withUsers, proxy, map[string][]string{"X-Auth-User": {"Gone"}}, "", nil, callers.ErrForbidden},
		{"an unknown person with capitals", withUsers, proxy, map[string][]string{"X-Auth-User": {"Eve@Example.com"}}, "user:Eve@Example.com", nil, nil},
		{"an invisible character", plain, proxy, map[string][]string{"X-Auth-User": {"ada\u200b"}}, "", nil, callers.ErrForbidden},
		{"the id of a user", plain, proxy, map[string][]string{"X-Auth-User": {"user:ada"}}, "", nil, callers.ErrForbidden},
		{"the id of another provider's person", plain, proxy, map[string][]string{"X-Auth-User": {"oidc:https://idp.example#42"}}, "", nil, callers.ErrForbidden},
		{"roles of a header", withRoles, proxy, map[string][]string{"X-Auth-User": {"ada"}, "X-Auth-Groups": {"ops, dev,"}}, "user:ada", []string{"ops", "dev"}, nil},
		{"no header", plain, proxy, nil, "", nil, callers.ErrNoCredentials},
		{"a disabled user", withUsers, proxy, map[string][]string{"X-Auth-User": {"gone"}}, "", nil, callers.ErrForbidden},
		{"a stranger", plain, "10.0.0.8:4711", map[string][]string{"X-Auth-User": {"ada"}}, "", nil, callers.ErrForbidden},
		{"loopback", plain, "127.0.0.1:4711", map[string][]string{"X-Auth-User": {"ada"}}, "", nil, callers.ErrForbidden},
		{"no address", plain, "pipe", map[string][]string{"X-Auth-User": {"ada"}}, "", nil, callers.ErrForbidden},
		{"a stranger's roles", withRoles, "10.0.0.8:1", map[string][]string{"X-Auth-Groups": {"operator"}}, "", nil, callers.ErrForbidden},
		{"roles of nobody", withRoles, proxy, map[string][]string{"X-Auth-Groups": {"operator"}}, "", nil, callers.ErrForbidden},
		{"a second header", plain, proxy, map[string][]string{"X-Auth-User": {"ada", "eve"}}, "", nil, callers.ErrForbidden},
		{"a second header of roles", withRoles, proxy, map[string][]string{"X-Auth-User": {"ada"}, "X-Auth-Groups": {"a", "operator"}}, "", nil, callers.ErrForbidden},
		{"joined headers", plain, proxy, map[string][]string{"X-Auth-User": {"ada, eve"}}, "", nil, callers.ErrForbidden},
		{"underscores", plain, proxy, map[string][]string{"X-Auth-User": {"ada"}, "X_auth_user": {"eve"}}, "", nil, callers.ErrForbidden},
		{"only underscores", plain, proxy, map[string][]string{"X_Auth_User": {"eve"}}, "", nil, callers.ErrForbidden},
		{"underscores from a stranger", plain, "10.0.0.8:1", map[string][]string{"X-Auth_User": {"eve"}}, "", nil, callers.ErrForbidden},
		{"nobody", plain, proxy, map[string][]string{"X-Auth-User": {""}}, "", nil, callers.ErrForbidden},
		{"spaces", plain, proxy, map[string][]string{"X-Auth-User": {" ada"}}, "", nil, callers.ErrForbidden},
		{"a reserved name", plain, proxy, map[string][]string{"X-Auth-User": {"operator"}}, "", nil, callers.ErrForbidden},
		{"not UTF-8", plain, proxy, map[string][]string{"X-Auth-User": {"\xff"}}, "", nil, callers.ErrForbidden},
		{"long", plain, proxy, map[string][]string{"X-Auth-User": {strings.Repeat("a", 300)}}, "", nil, callers.ErrForbidden},
	} {
		h := tt.header
		got, err := h.Authenticate(&http.Request{RemoteAddr: tt.from, Header: tt.sent})
		if !errors.Is(err, tt.err) || got.ID != tt.id || !slices.Equal(got.Roles, tt.roles) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	all := []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}
	for name, h := range map[string]trustedproxy.Header{
		"no proxy":           {Name: "X-User"},
		"no name":            {Proxies: all},
		"an underscore":      {Name: "X_User", Proxies: all},
		"a space":            {Name: "X User", Proxies: all},
		"the cookie":         {Name: "Cookie", Proxies: all},
		"the authorization":  {Name: "authorization", Proxies: all},
		"the same twice":     {Name: "X-User", Roles: "x-user", Proxies: all},
		"roles with a colon": {Name: "X-User", Roles: "X:", Proxies: all},
	} {
		if err := h.Check(); err == nil {
			t.Errorf("%s is valid", name)
		}
	}
	if err := (&trustedproxy.Header{Name: "X-Forwarded-User", Roles: "X-Forwarded-Groups", Proxies: all}).Check(); err != nil {
		t.Error(err)
	}
}
