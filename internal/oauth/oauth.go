// Package oauth makes Beam's MCP endpoints an OAuth 2.1 resource server (MCP,
// Authorization): it verifies the access tokens of one issuer, and describes to clients
// where to get one. Tokens are JWTs (RFC 9068), or are introspected (RFC 7662).
package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/photon-beam/beam/internal/links"
)

// A Config says whose access tokens are accepted.
type Config struct {
	// Issuer is the URL of the authorization server, exactly as its metadata and its
	// tokens have it.
	Issuer string
	// Scopes are those that each token must have.
	Scopes []string
	// RolesClaim is the claim that lists a caller's roles. Periods separate the names of
	// members: realm_access.roles. Empty means that callers have no roles.
	RolesClaim string
	// ClientID and ClientSecret are those with which Beam asks the issuer about tokens
	// that are no JWTs. Without them, such tokens are refused.
	ClientID, ClientSecret string

	Logger *slog.Logger // nil discards
	// Transport sends the requests to the issuer; nil for the default one.
	Transport http.RoundTripper
}

// scopePattern matches a scope (RFC 6749, section 3.3).
var scopePattern = regexp.MustCompile(`^[!#-\[\]-~]+$`)

// Validate returns what is wrong with c.
func (c *Config) Validate() error {
	err := checkIssuer(c.Issuer)
	for _, s := range c.Scopes {
		if !scopePattern.MatchString(s) {
			err = errors.Join(err, fmt.Errorf("%q is not a scope: it must consist of printable ASCII characters without spaces, quotation marks and backslashes", s))
		}
	}
	if (c.ClientID == "") != (c.ClientSecret == "") {
		err = errors.Join(err, errors.New("introspecting tokens requires both a client id and its secret"))
	}
	return err
}

// checkIssuer returns what is wrong with the URL of an issuer (RFC 8414, section 2).
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Hostname() == "":
		return errors.New("the issuer must be a URL, such as https://login.example")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(issuer, "#"):
		return errors.New("the issuer's URL may have only a scheme, a host and a path")
	}
	return checkSecure(u)
}

// checkSecure returns an error if what is sent to u could be read or changed on its way.
func checkSecure(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && links.IsLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("the URL of %s must begin with https://, since its host isn't this machine", cmp.Or(u.Host, "the issuer"))
}

// A Verifier verifies access tokens. It may be used from several goroutines.
type Verifier struct {
	config        Config
	issuer        *issuer
	introspection *introspection // nil if there is none
}

// NewVerifier returns a verifier for c, which must be valid. It begins to read the issuer's
// metadata and keys until ctx is done; it doesn't fail if it can't.
func NewVerifier(ctx context.Context, c Config) *Verifier {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Verifier{config: c, issuer: newIssuer(c.Issuer, newClient(c.Transport), c.Logger)}
	if c.ClientID != "" {
		v.introspection = newIntrospection(v.issuer, c.ClientID, c.ClientSecret, c.Logger)
	}
	go v.issuer.prefetch(ctx)
	return v
}

// Verify returns whom an access token for a resource stands for. The error is a
// [*Refusal].
func (v *Verifier) Verify(ctx context.Context, token, resource string) (Grant, error) {
	verify := v.verifyJWT
	if !isJWT(token) {
		verify = v.introspect
	}
	c, err := verify(ctx, token)
	if err != nil {
		return Grant{}, err
	}
	caller, err := v.callerOf(c, resource)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Caller: caller, verifier: v, token: token, resource: resource}
	if c.registered.Expiry != nil {
		g.expires = c.registered.Expiry.Time().Add(clockSkew)
	}
	return g, nil
}

// introspect asks the issuer about a token.
func (v *Verifier) introspect(ctx context.Context, token string) (claims, error) {
	if v.introspection == nil {
		return claims{}, invalidToken("the token is not a JWT")
	}
	return v.introspection.ask(ctx, token)
}

// Metadata returns the metadata of a protected resource (RFC 9728, section 2).
func (v *Verifier) Metadata(resource string) ResourceMetadata {
	return ResourceMetadata{
		Resource: resource, AuthorizationServers: []string{v.config.Issuer}, Scopes: v.config.Scopes,
		BearerMethods: []string{"header"}, Name: "Beam",
	}
}

// ResourceMetadata is the metadata of a protected resource (RFC 9728, section 2).
type ResourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name,omitempty"`
}
