package web

import (
	"errors"
	"net/http"
	"slices"

	"github.com/photon-beam/beam/internal/engine"
)

// authenticated adapts a handler: it identifies the caller and writes the error that the
// handler returns. It sends browsers that must sign in to the sign-in page.
func (s *Server) authenticated(h callerHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.sessions.identify(w, r)
		if errors.Is(err, errSignInRequired) && wantsHTML(r) && r.Method == http.MethodGet {
			s.sessions.saveReturnPath(w, r, r.URL.RequestURI())
			http.Redirect(w, r, loginURL(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		if err == nil {
			err = h(w, r, caller)
		}
		if errors.Is(err, engine.ErrForbidden) && wantsHTML(r) && r.Method == http.MethodGet {
			err = s.renderForbidden(w, r, caller)
		}
		if err != nil {
			s.writeError(w, r, err)
		}
	})
}

// unauthenticated adapts a handler that needs no authentication.
func (s *Server) unauthenticated(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.writeError(w, r, err)
		}
	})
}

// renderForbidden renders the sign-in page: a link carries no authority, but its owner
// may sign in.
func (s *Server) renderForbidden(w http.ResponseWriter, r *http.Request, caller engine.Caller) error {
	if !slices.Contains(caller, Operator) { // the operator needs no sign-in address
		s.sessions.saveReturnPath(w, r, r.URL.RequestURI())
	}
	return s.renderLogin(w, r, http.StatusForbidden, "This belongs to someone else. Sign in as its owner to see it.", r.URL.RequestURI())
}
