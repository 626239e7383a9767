package oauth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/links"
)

// CheckResource checks what MCP clients need of a Beam: the metadata of its MCP endpoint as
// a resource of an issuer, and the way there. Transport may be nil.
func CheckResource(ctx context.Context, transport http.RoundTripper, site links.Site, issuer Metadata) []Finding {
	base, ok := site.Base()
	if !ok {
		return []Finding{{FindingProblem, "the URL of Beam has no host", "Name it with --url, as for serve."}}
	}
	c := resourceCheck{newClient(transport), base, issuer}
	below := (base + links.ResourceMetadata).MCP()
	findings := c.checkMetadata(ctx, below)
	if site.Path != "" && findings[0].Status == FindingOK {
		findings = append(findings, c.checkRootMetadata(ctx, site.Origin+links.ResourceMetadata+site.Path.MCP()))
	}
	return append(findings, c.checkChallenge(ctx, below))
}

// A resourceCheck checks one Beam.
type resourceCheck struct {
	client *http.Client
	base   links.Base
	issuer Metadata
}

// fetch returns the metadata at an address, or what is wrong with it.
func (c *resourceCheck) fetch(ctx context.Context, at string) (m ResourceMetadata, wrong *Finding) {
	err := fetchJSON(ctx, c.client, at, &m)
	switch want := c.base.MCP(); {
	case err != nil:
		return m, &Finding{FindingProblem, "the metadata of the MCP endpoint can't be read: " + err.Error(), "Start Beam with --oauth-issuer and --url " + string(c.base) + ", and have the proxy in front of it forward this path."}
	case m.Resource != want:
		return m, &Finding{FindingProblem, fmt.Sprintf("%s is about %q, not %q: tokens would be for another address", at, m.Resource, want), "Start Beam with the --url that clients use."}
	case !slices.Contains(m.AuthorizationServers, c.issuer.Issuer):
		return m, &Finding{FindingProblem, fmt.Sprintf("%s sends clients to %s, not to %s", at, strings.Join(m.AuthorizationServers, ", "), c.issuer.Issuer), "Start Beam with --oauth-issuer " + c.issuer.Issuer + "."}
	}
	return m, nil
}

// checkMetadata checks the metadata to which Beam sends clients. The first finding says
// whether they are right.
func (c *resourceCheck) checkMetadata(ctx context.Context, at string) []Finding {
	m, wrong := c.fetch(ctx, at)
	if wrong != nil {
		return []Finding{*wrong}
	}
	findings := []Finding{{FindingOK, fmt.Sprintf("tokens must have the aud %s: the metadata is at %s", m.Resource, at), ""}}
	for _, scope := range m.Scopes {
		if c.issuer.Scopes != nil && !slices.Contains(c.issuer.Scopes, scope) {
			findings = append(findings, Finding{FindingNote, fmt.Sprintf("Beam requires the scope %s, which the issuer's metadata doesn't list", scope), "Add the scope to the issuer, if it doesn't have it."})
		}
	}
	return findings
}

// checkRootMetadata checks the metadata where clients look that only know the endpoint.
func (c *resourceCheck) checkRootMetadata(ctx context.Context, at string) Finding {
	if _, wrong := c.fetch(ctx, at); wrong != nil {
		return Finding{FindingNote, wrong.Text, "Have the proxy forward " + links.ResourceMetadata + "/… to Beam, too: some clients look only there."}
	}
	return Finding{FindingOK, "the same metadata is at " + at, ""}
}

// checkChallenge checks that a client without a token is told where to get one.
func (c *resourceCheck) checkChallenge(ctx context.Context, metadata string) Finding {
	endpoint := c.base.MCP()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, nil)
	if err != nil {
		return Finding{FindingProblem, err.Error(), "Check the URL of Beam."}
	}
	res, err := c.client.Do(r)
	if err != nil {
		return Finding{FindingProblem, withoutQuery(err).Error(), "Start Beam, and have the proxy in front of it forward this path."}
	}
	defer res.Body.Close()
	switch challenge := res.Header.Get("WWW-Authenticate"); {
	case res.StatusCode != http.StatusUnauthorized:
		return Finding{FindingProblem, fmt.Sprintf("%s responds to a client without a token with status %d, not 401", endpoint, res.StatusCode), "Start Beam with --oauth-issuer; if a proxy responds, have it forward the path."}
	case !strings.Contains(challenge, `resource_metadata="`+metadata+`"`):
		return Finding{FindingProblem, endpoint + " doesn't tell clients in WWW-Authenticate where the metadata is", "Have the proxy pass on this header, and start Beam with --oauth-issuer and the --url that clients use."}
	}
	return Finding{FindingOK, endpoint + " sends clients without a token there", ""}
}
