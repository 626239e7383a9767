package servecmd

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/trustedproxy"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity/openid"
)

// peopleFlags say who may use the pages and MCP, besides the operator.
type peopleFlags struct {
	Users string `common:"" default:"" placeholder:"FILE" type:"path" help:"File of the people who may use Beam, each with tokens of their own, which ${program} user manages. A change takes effect at once. Everyone then has to sign in."`

	TrustUserHeader  string   `placeholder:"NAME" help:"Header in which the reverse proxy in front of Beam names the person who sends a request. Requires --trusted-proxy; from anywhere else, a request with the header is refused."`
	TrustRolesHeader string   `placeholder:"NAME" help:"Header in which that proxy sends the person's roles, separated by commas. By default, the roles in the file of --users."`
	TrustedProxy     []string `placeholder:"CIDR" help:"Addresses of the reverse proxy's connections to Beam, such as 10.0.0.7 or 10.0.0.0/24. Beam then takes the address of a person, by which it counts wrong credentials, from the proxy's X-Forwarded-For. Can be repeated."`

	OIDCIssuer           string   `name:"oidc-issuer" placeholder:"URL" help:"OpenID Connect issuer with which people sign in. Requires --oidc-client-id and a complete --url; the redirect URI to register is URL/login/callback."`
	OIDCClientID         string   `name:"oidc-client-id" placeholder:"ID" help:"Beam's client id at the issuer."`
	OIDCClientSecretFile string   `name:"oidc-client-secret-file" placeholder:"FILE" type:"path" help:"File with the client's secret, which only you can read (mode 0600). Without it, Beam is a public client."`
	OIDCScopes           []string `name:"oidc-scopes" placeholder:"SCOPE" help:"Scopes to ask for besides openid and profile, such as groups."`
	OIDCRolesClaim       string   `name:"oidc-roles-claim" placeholder:"CLAIM" help:"Claim of the ID token with a person's roles, such as groups or realm_access.roles. Without it, nobody who signs in there has roles."`

	Audit string `default:"" placeholder:"FILE" type:"path" help:"File to which Beam appends who signs in, who is refused, who answers and stops, and changes of users, as JSON lines without secrets."`

	people app.People // from the flags
}

// known reports whether people have to sign in.
func (p *peopleFlags) known() bool { return p.people.Known() }

// CheckFlags checks the flags. site is that of --url.
func (p *peopleFlags) validate(site links.Site) error {
	var err error
	if p.Users != "" {
		p.people.Users = p.Users
		if _, loadErr := users.Load(p.Users); loadErr != nil {
			err = fmt.Errorf("--users: %w", loadErr)
		}
	}
	return errors.Join(err, p.validateProxy(), p.validateOpenID(site))
}

func (p *peopleFlags) validateProxy() error {
	switch {
	case p.TrustUserHeader == "" && p.TrustRolesHeader != "":
		return errors.New("--trust-roles-header requires --trust-user-header")
	case p.TrustUserHeader != "" && len(p.TrustedProxy) == 0:
		return errors.New("--trust-user-header requires --trusted-proxy: everybody could send the header otherwise")
	}
	for _, text := range p.TrustedProxy {
		prefix, err := parsePrefix(text)
		if err != nil {
			return err
		}
		p.people.Proxies = append(p.people.Proxies, prefix)
	}
	if p.TrustUserHeader == "" {
		return nil
	}
	h := &trustedproxy.Header{Name: p.TrustUserHeader, Roles: p.TrustRolesHeader, Proxies: p.people.Proxies}
	if err := h.Check(); err != nil {
		return fmt.Errorf("--trust-user-header: %w", err)
	}
	p.people.Proxy = h
	return nil
}

// parsePrefix parses an address or a range of them. A range of all addresses is refused.
func parsePrefix(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
		prefix, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	switch {
	case err != nil:
		return prefix, fmt.Errorf("--trusted-proxy %q is not an address or a range of them, as in 10.0.0.7 or 10.0.0.0/24", text)
	case prefix.Bits() == 0:
		return prefix, fmt.Errorf("--trusted-proxy %s would trust everybody", text)
	case prefix.Addr().Is4In6():
		return prefix, fmt.Errorf("--trusted-proxy %s: write the range as IPv4 addresses", text)
	}
	return prefix.Masked(), nil
}

func (p *peopleFlags) validateOpenID(site links.Site) error {
	switch {
	case p.OIDCIssuer == "" && p.OIDCClientID == "" && p.OIDCClientSecretFile == "" && p.OIDCRolesClaim == "" && len(p.OIDCScopes) == 0:
		return nil
	case p.OIDCIssuer == "":
		return errors.New("the other flags of OpenID Connect require --oidc-issuer")
	}
	c := &openid.Config{Issuer: p.OIDCIssuer, ClientID: p.OIDCClientID, RolesClaim: p.OIDCRolesClaim, Scopes: p.OIDCScopes, Site: site}
	if err := c.Check(); err != nil {
		return fmt.Errorf("--oidc-issuer: %w (see --oidc-client-id and --url)", err)
	}
	if p.OIDCClientSecretFile != "" {
		secret, err := readSecretFile(p.OIDCClientSecretFile)
		if err != nil {
			return fmt.Errorf("--oidc-client-secret-file: %w", err)
		}
		c.ClientSecret = secret
	}
	p.people.OpenID = c
	return nil
}

// readSecretFile reads a secret that only its owner can read.
func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("others can read %s (its mode is %o): chmod 600 it", path, info.Mode().Perm())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}
