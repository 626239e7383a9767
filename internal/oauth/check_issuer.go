package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/photon-beam/beam/internal/humanize"
)

// A Finding is what MCP clients will find at an authorization server or a resource.
type Finding struct {
	Status     string // FindingOK, FindingNote or FindingProblem
	Text, Mend string
}

// The statuses of findings.
const (
	FindingOK      = "ok"
	FindingNote    = "note" // some clients will not work
	FindingProblem = "problem"
)

// CheckIssuer checks what MCP clients need of an issuer, whose metadata it returns: the
// zero Metadata if there is none. Transport may be nil.
func CheckIssuer(ctx context.Context, transport http.RoundTripper, issuer string) ([]Finding, Metadata) {
	if err := checkIssuer(issuer); err != nil {
		return []Finding{{FindingProblem, err.Error(), "Name the authorization server by its issuer URL."}}, Metadata{}
	}
	client := newClient(transport)
	m, err := fetchMetadata(ctx, client, issuer)
	if err != nil {
		return []Finding{{FindingProblem, err.Error(), "Name the issuer exactly as its metadata does, and have it publish them (RFC 8414, or OpenID Connect Discovery)."}}, Metadata{}
	}
	findings := []Finding{{FindingOK, "the issuer's metadata is at " + m.URL, ""}}
	findings = append(findings, m.checkEndpoints()...)
	findings = append(findings, m.checkCodeChallenge(), m.checkRegistration())
	findings = append(findings, m.checkClients()...)
	return append(findings, checkKeys(ctx, client, m.JWKSURI)), m
}

// checkEndpoints checks the endpoints of the authorization code flow.
func (m *Metadata) checkEndpoints() (findings []Finding) {
	for _, e := range []struct{ name, url string }{{"authorization_endpoint", m.AuthorizationEndpoint}, {"token_endpoint", m.TokenEndpoint}} {
		u, err := url.Parse(e.url)
		switch {
		case e.url == "" || err != nil:
			findings = append(findings, Finding{FindingProblem, "the issuer's metadata has no " + e.name, "Enable the authorization code flow."})
		case checkSecure(u) != nil:
			findings = append(findings, Finding{FindingProblem, "the " + e.name + " " + e.url + " is without TLS", "Serve it with https."})
		}
	}
	if m.ResponseTypes != nil && !slices.Contains(m.ResponseTypes, "code") || m.GrantTypes != nil && !slices.Contains(m.GrantTypes, "authorization_code") {
		findings = append(findings, Finding{FindingProblem, "the issuer has no authorization code flow, which MCP clients use", "Enable the response type code and the grant type authorization_code."})
	}
	return findings
}

func (m *Metadata) checkCodeChallenge() Finding {
	if !slices.Contains(m.CodeChallengeMethods, "S256") {
		return Finding{FindingProblem, "the issuer's metadata doesn't list S256 in code_challenge_methods_supported: MCP clients refuse to go on", "Enable PKCE with S256; some servers have it, and need to be told to publish it."}
	}
	return Finding{FindingOK, "PKCE with S256", ""}
}

// checkRegistration checks how a client gets its id.
func (m *Metadata) checkRegistration() Finding {
	switch {
	case m.ClientIDMetadataDocuments && m.RegistrationEndpoint != "":
		return Finding{FindingOK, "clients get an id by themselves: by client id metadata documents, or by registration", ""}
	case m.ClientIDMetadataDocuments:
		return Finding{FindingOK, "clients get an id by themselves, by client id metadata documents; older ones need one that you have registered for them", ""}
	case m.RegistrationEndpoint != "":
		return Finding{FindingOK, "clients get an id by themselves, by dynamic registration", ""}
	}
	return Finding{FindingNote, "the issuer has neither client id metadata documents nor dynamic registration: each client needs an id that you have registered for it",
		"Enable one of them; or register a public client with the redirect URIs of the MCP client, and enter its id there."}
}

// checkClients checks what some clients need.
func (m *Metadata) checkClients() (findings []Finding) {
	if m.TokenAuthMethods != nil && !slices.Contains(m.TokenAuthMethods, "none") {
		findings = append(findings, Finding{FindingNote, "the issuer has no public clients: those on a desk, which can keep no secret, can't use it", "Add none to token_endpoint_auth_methods_supported."})
	}
	if !m.IssuerInResponse {
		findings = append(findings, Finding{FindingNote, "the issuer doesn't say who it is in its responses (RFC 9207): clients of several issuers can't tell them apart", "Enable the parameter iss, if the server has it."})
	}
	return findings
}

func checkKeys(ctx context.Context, client *http.Client, address string) Finding {
	keys, err := fetchKeys(ctx, client, address)
	if err != nil {
		return Finding{FindingProblem, err.Error(), "Have the issuer publish its keys at its jwks_uri, RSA (2048 bits or more), ECDSA or Ed25519. Without them, Beam can't verify JWTs."}
	}
	return Finding{FindingOK, humanize.Count(len(keys), "key") + " for signatures at " + address, ""}
}
