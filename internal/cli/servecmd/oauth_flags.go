package servecmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
)

// oauthFlags say which MCP clients are let in over HTTP.
type oauthFlags struct {
	OAuthIssuer           string   `name:"oauth-issuer" placeholder:"URL" help:"Authorization server whose access tokens MCP clients present at /mcp (OAuth 2.1). Requires --url with a host: tokens must be for the address of /mcp. docs/oauth.md describes the set-up; beam doctor --oauth checks it."`
	OAuthScope            []string `name:"oauth-scope" placeholder:"SCOPE" help:"Scope that access tokens must have. Can be repeated."`
	OAuthRoles            string   `name:"oauth-roles-claim" placeholder:"CLAIM" help:"Claim of access tokens that lists the caller's roles, such as roles or realm_access.roles."`
	OAuthClientID         string   `name:"oauth-client-id" placeholder:"ID" help:"Beam's own client id at the authorization server, to ask it about access tokens that are not JWTs (introspection)."`
	OAuthClientSecretFile string   `name:"oauth-client-secret-file" type:"path" placeholder:"FILE" help:"File that contains the secret of --oauth-client-id."`
	AllowOrigin           []string `placeholder:"ORIGIN" help:"Origin of a web page that may be an MCP client, such as https://client.example. Can be repeated."`
}

// CheckFlags checks the flags for a site.
func (f *oauthFlags) validate(site links.Site) error {
	for _, o := range f.AllowOrigin {
		if _, err := links.ParseOrigin(o); err != nil {
			return fmt.Errorf("--allow-origin %q is not an origin: %w", o, err)
		}
	}
	if f.OAuthIssuer == "" {
		if len(f.OAuthScope) > 0 || f.OAuthRoles != "" || f.OAuthClientID != "" || f.OAuthClientSecretFile != "" {
			return errors.New("--oauth-scope, --oauth-roles-claim, --oauth-client-id and --oauth-client-secret-file require --oauth-issuer")
		}
		return nil
	}
	if _, ok := site.Base(); !ok {
		return errors.New("--oauth-issuer requires --url with a host, such as https://tools.example/beam: access tokens must be for the address of /mcp there")
	}
	if (f.OAuthClientID == "") != (f.OAuthClientSecretFile == "") {
		return errors.New("--oauth-client-id and --oauth-client-secret-file require each other")
	}
	c := oauth.Config{Issuer: f.OAuthIssuer, Scopes: f.OAuthScope}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("--oauth-issuer, --oauth-scope: %w", err)
	}
	return nil
}

// allowedOrigins returns the origins as browsers send them.
func (f *oauthFlags) allowedOrigins() []string {
	var origins []string
	for _, o := range f.AllowOrigin {
		origin, _ := links.ParseOrigin(o) // validate has checked it
		origins = append(origins, origin)
	}
	return origins
}

// maxSecret is the length of the longest client secret, in bytes.
const maxSecret = 4 << 10

// verification returns whose access tokens are accepted; nil if nobody's are.
func (f *oauthFlags) verification() (*oauth.Config, error) {
	if f.OAuthIssuer == "" {
		return nil, nil
	}
	c := &oauth.Config{Issuer: f.OAuthIssuer, Scopes: f.OAuthScope, RolesClaim: f.OAuthRoles, ClientID: f.OAuthClientID}
	if f.OAuthClientSecretFile == "" {
		return c, nil
	}
	raw, err := os.ReadFile(f.OAuthClientSecretFile)
	if err != nil {
		return nil, fmt.Errorf("--oauth-client-secret-file: %w", err)
	}
	c.ClientSecret = strings.TrimRight(string(raw), "\r\n")
	if c.ClientSecret == "" || len(c.ClientSecret) > maxSecret {
		return nil, fmt.Errorf("--oauth-client-secret-file: %s must contain the secret and nothing else", f.OAuthClientSecretFile)
	}
	return c, nil
}
