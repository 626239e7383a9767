package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/request"
)

// A callerHandler serves a request of an authenticated caller. An error that it returns
// becomes the response; it must not return one after starting a response.
type callerHandler func(http.ResponseWriter, *http.Request, generators.Caller) error

// authenticated adapts a handler: it identifies the caller and writes the error that the
// handler returns. It sends browsers that must sign in to the sign-in page.
func (s *Server) authenticated(h callerHandler) http.Handler {
	return s.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		isPage := request.WantsHTML(r) && r.Method == http.MethodGet
		began := s.live.now()
		caller, err := s.identify(w, r)
		if errors.Is(err, callers.ErrSignInRequired) && isPage {
			to := s.requestPath(r)
			s.sessions.SaveReturnPath(w, r, to)
			http.Redirect(w, r, s.links.LoginThen(to), http.StatusSeeOther)
			return nil
		}
		if err != nil {
			s.auditRefusal(r, err)
			return err
		}
		r, done := s.whileSignedIn(r, caller, s.authenticators, began)
		defer done()
		err = h(w, r, caller)
		if errors.Is(err, engine.ErrForbidden) && isPage && s.identifier == nil {
			return s.renderForbidden(w, r)
		}
		if err != nil {
			s.writeError(w, r, caller, err)
		}
		return nil
	})
}

// authenticatedProgram is [Server.authenticated] for an endpoint that programs use, and
// no pages.
func (s *Server) authenticatedProgram(h callerHandler) http.Handler {
	return s.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		began := s.live.now()
		caller, err := s.identifyProgram(r)
		if err != nil {
			s.auditRefusal(r, err)
			return err
		}
		r, done := s.whileSignedIn(r, caller, s.programAuthenticators, began)
		defer done()
		return h(w, r, caller)
	})
}

// whileSignedIn returns a request with a context that ends when its caller is signed out
// (see [liveRequests.add]), or an identity provider no longer vouches for them, until done
// is called.
func (s *Server) whileSignedIn(r *http.Request, caller generators.Caller, by callers.Authenticator, after int) (_ *http.Request, done func()) {
	r, remove := s.live.add(r, caller, by, after)
	until, ok := s.sessions.VouchedUntil(r, caller)
	if !ok || s.identifier != nil {
		return r, remove
	}
	ctx, cancel := context.WithDeadlineCause(r.Context(), until, errSignedOut)
	return r.WithContext(ctx), func() { cancel(); remove() }
}

// newAuthenticators sets who knows the callers of requests: of browsers and scripts, and
// of programs that keep no cookies, such as MCP clients.
func (s *Server) newAuthenticators(c Config) {
	if c.Identify != nil {
		s.authenticators = callers.Chain{callers.ByConnection{}, c.Identify}
		s.programAuthenticators, s.credentialAuthenticators = s.authenticators, s.authenticators
		return
	}
	known := append(callers.Chain{callers.ByConnection{}}, c.Authenticators...)
	if c.Users != nil {
		known = append(known, c.Users) // before the token that all have, as on the sign-in page
	}
	known = append(known, s.sessions.Token())
	s.credentialAuthenticators = known
	s.programAuthenticators = append(slices.Clip(known), callers.RefuseUnknownBearer{})
	s.authenticators = append(slices.Clip(s.programAuthenticators), s.sessions)
	if s.requiresSignIn {
		s.programAuthenticators = s.authenticators
	}
}

// identify returns the caller of a request. It begins a session for a browser that has
// none if nobody has to sign in, and renews one that is in use.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (generators.Caller, error) {
	caller, err := s.throttled(r, s.authenticators.Authenticate)
	switch {
	case errors.Is(err, callers.ErrNoCredentials) && s.identifier == nil:
		return s.sessions.Begin(w, r)
	case err == nil && s.identifier == nil:
		err = s.sessions.Renew(w, r)
	}
	return caller, err
}

// identifyProgram returns the caller of a request of a program that keeps no cookies. If
// nobody has to sign in, it is [callers.LocalClient]: a program that can reach the
// loopback address runs on the operator's machine.
func (s *Server) identifyProgram(r *http.Request) (generators.Caller, error) {
	caller, err := s.throttled(r, s.programAuthenticators.Authenticate)
	if errors.Is(err, callers.ErrNoCredentials) {
		return callers.LocalClient(), nil
	}
	return caller, err
}

// unauthenticated adapts a handler that needs no authentication.
func (s *Server) unauthenticated(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.writeError(w, r, generators.Caller{}, err)
		}
	})
}

// renderForbidden renders the sign-in page: a link carries no authority, but its owner
// may sign in.
func (s *Server) renderForbidden(w http.ResponseWriter, r *http.Request) error {
	to := s.requestPath(r)
	s.sessions.SaveReturnPath(w, r, to)
	text := "This belongs to someone else. Sign in as its owner to see it."
	if r.Pattern == askPattern {
		text = othersQuestion + " If the question is yours, sign in as the person whose tool asks it."
	}
	return s.renderLogin(w, r, http.StatusForbidden, text, to)
}

// requestPath returns the path and query that a browser requested.
func (s *Server) requestPath(r *http.Request) string { return s.links.To(r.URL.RequestURI()) }
