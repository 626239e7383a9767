package access

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/response"
)

// Clients knows the MCP clients that present access tokens, where the MCP endpoints are
// protected resources. It is safe for concurrent use.
type Clients struct {
	*Callers
	Verifier *oauth.Verifier
	Trail    *Trail
	Site     links.Site
}

// endpoint returns what the MCP endpoint of a request is below: the base of all, in
// whose place metadata has another.
func endpoint(base links.Base, r *http.Request) string {
	if name := r.PathValue("name"); name != "" {
		return base.UpstreamMCP(name)
	}
	return base.MCP()
}

// resource returns the canonical address of the MCP endpoint that a request is for, or
// about. It is the configured one: the request's host has no part in it.
func (c *Clients) resource(r *http.Request) string {
	base, _ := c.Site.Base()
	return endpoint(base, r)
}

// Metadata serves the metadata of an endpoint as a protected resource.
func (c *Clients) Metadata(w http.ResponseWriter, r *http.Request) error {
	return response.JSON(w, http.StatusOK, c.Verifier.Metadata(c.resource(r)))
}

var _ Identifier = (*Clients)(nil).Client

// Client identifies the caller of a request to a protected resource, whose clients need
// credentials, of which access tokens are one kind.
func (c *Clients) Client(w http.ResponseWriter, r *http.Request) (*http.Request, generators.Caller, func(), error) {
	caller, grant, err := c.identify(r)
	if refused, ok := errors.AsType[*oauth.Refusal](err); ok {
		err = c.refuse(w, r, refused)
	}
	if err != nil {
		return r, caller, nil, err
	}
	if grant != nil {
		ctx, stop := grant.While(r.Context())
		return r.WithContext(ctx), caller, stop, nil
	}
	began, done := c.Live.Now(), func() {}
	if known, err := c.credentials.Authenticate(r); err == nil && known.ID == caller.ID {
		r, done = c.Live.Add(r, caller, c.credentials, began)
	}
	return r, caller, done, nil
}

// refuse returns the error of a refused request, and sets the header that tells the client
// where to get a token that is good.
func (c *Clients) refuse(w http.ResponseWriter, r *http.Request, refused *oauth.Refusal) error {
	if refused.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	} else {
		base, _ := c.Site.Base()
		w.Header().Set("WWW-Authenticate", c.Verifier.Challenge(refused, endpoint(base+links.ResourceMetadata, r)))
	}
	if refused.Code != "" {
		c.Trail.Refused(r, "access token", refused.Text)
	}
	return &problem.Error{Status: refused.Status, Text: problem.Sentence(refused.Text)}
}

// identify returns the caller of a request to a protected resource and, if it is
// known by an access token, what that grants.
func (c *Clients) identify(r *http.Request) (caller generators.Caller, grant *oauth.Grant, err error) {
	caller, err = c.throttled(r, func(r *http.Request) (known generators.Caller, err error) {
		known, grant, err = c.verify(r)
		return known, err
	})
	return caller, grant, err
}

// verify verifies the credentials of a request to a protected resource. Beam's own
// come first, so that they are never sent to the issuer.
func (c *Clients) verify(r *http.Request) (generators.Caller, *oauth.Grant, error) {
	if err := oauth.CheckRequest(r); err != nil {
		return generators.Caller{}, nil, err
	}
	caller, err := c.credentials.Authenticate(r)
	switch {
	case errors.Is(err, callers.ErrSignInRequired):
		return generators.Caller{}, nil, oauth.ErrInvalidToken
	case !errors.Is(err, callers.ErrNoCredentials) && !errors.Is(err, identity.ErrNotSignedIn):
		return caller, nil, err
	}
	token, err := oauth.Token(r)
	if err != nil {
		return generators.Caller{}, nil, err
	}
	grant, err := c.Verifier.Verify(r.Context(), token, c.resource(r))
	if err != nil {
		return generators.Caller{}, nil, err
	}
	return grant.Caller, &grant, nil
}
