package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Metadata is what an issuer publishes about itself (RFC 8414, section 2; OpenID Connect
// Discovery, section 3).
type Metadata struct {
	URL string `json:"-"` // where it is

	Issuer                    string   `json:"issuer"`
	AuthorizationEndpoint     string   `json:"authorization_endpoint"`
	TokenEndpoint             string   `json:"token_endpoint"`
	JWKSURI                   string   `json:"jwks_uri"`
	RegistrationEndpoint      string   `json:"registration_endpoint"`
	IntrospectionEndpoint     string   `json:"introspection_endpoint"`
	Scopes                    []string `json:"scopes_supported"`
	ResponseTypes             []string `json:"response_types_supported"`
	GrantTypes                []string `json:"grant_types_supported"`
	TokenAuthMethods          []string `json:"token_endpoint_auth_methods_supported"`
	CodeChallengeMethods      []string `json:"code_challenge_methods_supported"`
	ClientIDMetadataDocuments bool     `json:"client_id_metadata_document_supported"`
	IssuerInResponse          bool     `json:"authorization_response_iss_parameter_supported"`
}

// metadataURLs returns where an issuer's metadata may be, in the order in which MCP clients
// look for it.
func metadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	origin := u.Scheme + "://" + u.Host
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	urls := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		urls = append(urls, origin+path+"/.well-known/openid-configuration")
	}
	return urls
}

// fetchMetadata returns the metadata of an issuer. The error says of each place what is
// wrong there.
func fetchMetadata(ctx context.Context, client *http.Client, issuer string) (Metadata, error) {
	var problems []error
	for _, at := range metadataURLs(issuer) {
		m := Metadata{URL: at}
		err := fetchJSON(ctx, client, at, &m)
		if err == nil && m.Issuer != issuer {
			err = fmt.Errorf("%s is about the issuer %q, not %q: the two must be the same, including a slash at the end", at, m.Issuer, issuer)
		}
		if err == nil {
			return m, nil
		}
		problems = append(problems, err)
		var status *statusError
		if !errors.As(err, &status) && ctx.Err() != nil {
			break
		}
	}
	return Metadata{}, errors.Join(problems...)
}

// An issuer is the authorization server as Beam sees it.
type issuer struct {
	client   *http.Client
	logger   *slog.Logger
	url      string
	metadata *cached[Metadata]
	keys     *cached[keySet]
}

func newIssuer(url string, client *http.Client, logger *slog.Logger) *issuer {
	i := &issuer{client: client, logger: logger, url: url}
	i.metadata = newCached(i.fetchMetadata)
	i.keys = newCached(i.fetchKeys)
	return i
}

// prefetch fetches what the first token will need, and logs if that fails.
func (i *issuer) prefetch(ctx context.Context) {
	if keys, err := i.keys.get(ctx, keySet.isUsable); err == nil && ctx.Err() == nil {
		i.logger.Info("read the keys of the authorization server", "issuer", i.url, "keys", len(keys))
	}
}

func (i *issuer) fetchMetadata(ctx context.Context) (Metadata, error) {
	m, err := fetchMetadata(ctx, i.client, i.url)
	i.logProblem("its metadata", err)
	return m, err
}

// getMetadata returns the issuer's metadata.
func (i *issuer) getMetadata(ctx context.Context) (Metadata, error) {
	return i.metadata.get(ctx, func(Metadata) bool { return true })
}

func (i *issuer) fetchKeys(ctx context.Context) (keySet, error) {
	m, err := i.getMetadata(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := fetchKeys(ctx, i.client, m.JWKSURI)
	i.logProblem("its keys", err)
	return keys, err
}

// findKeys returns the keys that may have made a signature. The error is a [*Refusal].
func (i *issuer) findKeys(ctx context.Context, id, algorithm string) (keySet, error) {
	keys, err := i.keys.get(ctx, func(k keySet) bool { return len(k.find(id, algorithm)) > 0 })
	if err != nil {
		return nil, errUnavailable
	}
	found := keys.find(id, algorithm)
	if len(found) == 0 {
		return nil, invalidToken("the token is signed with a key that the authorization server doesn't publish")
	}
	return found, nil
}

func (i *issuer) logProblem(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		i.logger.Warn("can't read from the authorization server; until that works, access tokens can't be verified", "issuer", i.url, "what", what, "err", strings.Join(slices.Collect(strings.Lines(err.Error())), ""))
	}
}
