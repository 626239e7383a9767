package web

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

// routeResources adds the metadata of the MCP endpoints as protected resources. Their
// addresses have the well-known path at the root of the host, before the path of the site,
// where clients that know only the endpoint's address look. For proxies that forward only
// the path of the site, it is below that, too, and [Server.refuse] sends clients there.
func (s *Server) routeResources(mux *http.ServeMux) {
	for _, site := range []string{"", string(s.links)} {
		mux.Handle("GET "+links.ResourceMetadata+site+"/mcp", s.unauthenticated(s.handleResourceMetadata))
		mux.Handle("GET "+links.ResourceMetadata+site+"/mcp/u/{name}", s.unauthenticated(s.handleResourceMetadata))
		if s.links == "" {
			return
		}
	}
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
func (s *Server) resource(r *http.Request) string {
	base, _ := s.site.Base()
	return endpoint(base, r)
}

func (s *Server) handleResourceMetadata(w http.ResponseWriter, r *http.Request) error {
	response.JSON(w, http.StatusOK, s.oauth.Metadata(s.resource(r)))
	return nil
}

// authenticatedClient is [Server.authenticatedProgram] for an MCP endpoint. If it is a
// protected resource, its clients need credentials, of which access tokens are one kind.
func (s *Server) authenticatedClient(h callerHandler) http.Handler {
	if s.oauth == nil {
		return s.authenticatedProgram(h)
	}
	return s.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		caller, grant, err := s.identifyClient(r)
		var refused *oauth.Refusal
		if errors.As(err, &refused) {
			return s.refuse(w, r, refused)
		}
		if err != nil {
			s.auditRefusal(r, err)
			return err
		}
		if grant != nil {
			ctx, stop := grant.While(r.Context())
			defer stop()
			return h(w, r.WithContext(ctx), caller)
		}
		began := s.live.now()
		if known, err := s.credentialAuthenticators.Authenticate(r); err == nil && known.ID == caller.ID {
			var done func()
			r, done = s.live.add(r, caller, s.credentialAuthenticators, began)
			defer done()
		}
		return h(w, r, caller)
	})
}

// refuse returns the error of a refused request, and sets the header that tells the client
// where to get a token that is good.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, refused *oauth.Refusal) error {
	if refused.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	} else {
		base, _ := s.site.Base()
		w.Header().Set("WWW-Authenticate", s.oauth.Challenge(refused, endpoint(base+links.ResourceMetadata, r)))
	}
	if refused.Code != "" {
		s.recordRefusal(r, "access token", refused.Text)
	}
	return &problem.Error{Status: refused.Status, Text: problem.Sentence(refused.Text)}
}

// identifyClient returns the caller of a request to a protected resource and, if it is
// known by an access token, what that grants.
func (s *Server) identifyClient(r *http.Request) (caller generators.Caller, grant *oauth.Grant, err error) {
	caller, err = s.throttled(r, func(r *http.Request) (known generators.Caller, err error) {
		known, grant, err = s.verifyClient(r)
		return known, err
	})
	return caller, grant, err
}

// verifyClient verifies the credentials of a request to a protected resource. Beam's own
// come first, so that they are never sent to the issuer.
func (s *Server) verifyClient(r *http.Request) (generators.Caller, *oauth.Grant, error) {
	if err := oauth.CheckRequest(r); err != nil {
		return generators.Caller{}, nil, err
	}
	caller, err := s.credentialAuthenticators.Authenticate(r)
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
	grant, err := s.oauth.Verify(r.Context(), token, s.resource(r))
	if err != nil {
		return generators.Caller{}, nil, err
	}
	return grant.Caller, &grant, nil
}
