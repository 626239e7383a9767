package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/identity"
)

// A callerHandler serves a request of an authenticated caller. An error that it returns
// becomes the response; it must not return one after starting a response.
type callerHandler func(http.ResponseWriter, *http.Request, generators.Caller) error

// authenticated adapts a handler: it identifies the caller and writes the error that the
// handler returns. It sends browsers that must sign in to the sign-in page.
func (s *Server) authenticated(h callerHandler) http.Handler {
	return s.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		isPage := wantsHTML(r) && r.Method == http.MethodGet
		caller, err := s.identify(w, r)
		if errors.Is(err, identity.ErrSignInRequired) && isPage {
			to := s.requestPath(r)
			s.sessions.SaveReturnPath(w, r, to)
			http.Redirect(w, r, s.links.LoginThen(to), http.StatusSeeOther)
			return nil
		}
		if err != nil {
			return err
		}
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
		caller, err := s.identifyProgram(w, r)
		if err != nil {
			return err
		}
		return h(w, r, caller)
	})
}

// callerKey is the key of a request's caller in its context.
type callerKey struct{}

// WithCaller returns a context for requests whose caller is known from their connection.
func WithCaller(ctx context.Context, caller generators.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// identify returns the caller of a request.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (generators.Caller, error) {
	if caller, ok := r.Context().Value(callerKey{}).(generators.Caller); ok {
		return caller, nil
	}
	if s.identifier != nil {
		return s.identifier.Identify(r)
	}
	return s.sessions.Identify(w, r)
}

// identifyProgram returns the caller of a request of a program that keeps no cookies.
func (s *Server) identifyProgram(w http.ResponseWriter, r *http.Request) (generators.Caller, error) {
	if s.identifier != nil {
		return s.identifier.Identify(r)
	}
	return s.sessions.IdentifyProgram(w, r)
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
	return s.renderLogin(w, r, http.StatusForbidden, "This belongs to someone else. Sign in as its owner to see it.", to)
}

// requestPath returns the path and query that a browser requested.
func (s *Server) requestPath(r *http.Request) string { return s.links.To(r.URL.RequestURI()) }
