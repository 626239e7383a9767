package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/internal/ui"
)

// usersOrNil returns a nil interface for no users.
func usersOrNil(s *users.Store) identity.Users {
	if s == nil {
		return nil
	}
	return s
}

// handleChangedUsers ends the requests of users who may no longer send them.
func (s *Server) handleChangedUsers(c users.Changes) {
	if len(c.Texts) > 0 {
		s.audit.Record(audit.Event{Kind: audit.UsersChanged, Changes: c.Texts})
	}
	s.live.recheck()
}

// handleAccount renders the page about who is signed in.
func (s *Server) handleAccount(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := ui.AccountPage{Caller: caller, Name: callers.Describe(caller.ID, caller.Name), Sessions: s.hasSession(r), Everywhere: s.hasSession(r) && callers.IsPerson(caller)}
	return s.render(w, r, http.StatusOK, ui.Account(s.newChrome(r, caller, "Account"), page))
}

// hasSession reports whether the request's caller is that of the browser's session, rather
// than of a header.
func (s *Server) hasSession(r *http.Request) bool {
	if s.identifier != nil {
		return false
	}
	caller, err := s.authenticators.Authenticate(r)
	bySession, sessionErr := s.sessions.Authenticate(r)
	return err == nil && sessionErr == nil && caller.ID == bySession.ID && callers.IsSignedIn(caller)
}

// auditSignIn records that a caller has signed in.
func (s *Server) auditSignIn(r *http.Request, caller generators.Caller, by string) {
	event := audit.Of(audit.SignedIn, caller)
	event.By, event.Address = by, s.addressOf(r)
	s.audit.Record(event)
}

// auditRefusal records a request whose credentials aren't valid. One without any is no
// attempt to sign in; one that must wait is.
func (s *Server) auditRefusal(r *http.Request, err error) {
	_, bearer := callers.BearerToken(r)
	var refused *callers.RefusedError
	var tooMany *signin.TooManyError
	wrong := bearer && errors.Is(err, callers.ErrSignInRequired) || errors.As(err, &tooMany)
	if isRefused := errors.As(err, &refused); wrong || isRefused || errors.Is(err, callers.ErrForbidden) {
		by := "token"
		if isRefused {
			by = refused.By
		}
		reason := err.Error()
		if wrong && !isRefused && tooMany == nil {
			reason = "the bearer token is nobody's"
		}
		s.recordRefusal(r, by, reason)
	}
}

func (s *Server) recordRefusal(r *http.Request, by, reason string) {
	s.audit.Record(audit.Event{Kind: audit.SignInRefused, By: by, Address: s.addressOf(r), Reason: reason})
}

// addressOf returns the address that a request comes from. If the connection is that of a
// trusted proxy, it is the one that the proxy says.
func (s *Server) addressOf(r *http.Request) string {
	if from := signin.Address(r, s.trustedProxies); from.IsValid() {
		return from.String()
	}
	return r.RemoteAddr
}
