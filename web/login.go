package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/identity/openid"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// SignInURL returns a new single-use URL. The first browser that opens it is signed in as
// the operator. Base is the URL of the first page without its trailing slash. With
// [Config.Identify] there is no sign-in page, and the URL leads nowhere.
func (s *Server) SignInURL(base string) string {
	return links.Base(base).SignIn(s.signInCodes.Issue(), "")
}

// SignInToInboxURL is [Server.SignInURL] for a browser that then opens the inbox.
func (s *Server) SignInToInboxURL(base string) string {
	return links.Base(base).SignIn(s.signInCodes.Issue(), s.links.Inbox())
}

// handleLogin redeems a sign-in code, or says how to sign in.
func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	next := s.sessions.NextPath(r)
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a link checker must not consume the code
		return s.renderLogin(w, r, http.StatusOK, "", next)
	}
	valid := false
	if err := s.attemptSignIn(r, code, func() bool { valid = s.signInCodes.Redeem(code); return valid }); err != nil {
		return s.renderTooMany(w, r, err, "link", next)
	}
	if !valid {
		problem := "This sign-in address was already used or has expired."
		s.recordRefusal(r, "link", problem)
		return s.renderLogin(w, r, http.StatusForbidden, problem, next)
	}
	if err := s.sessions.SignInOperator(w, r); err != nil {
		return err
	}
	s.auditSignIn(r, callers.Operator(), "link")
	http.Redirect(w, r, s.sessions.TakeReturnPath(w, r, next), http.StatusSeeOther)
	return nil
}

// handleTokenLogin signs a browser in with a user's token, or the server's. The runs that
// the browser started before it had to sign in come along.
func (s *Server) handleTokenLogin(w http.ResponseWriter, r *http.Request) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	next := s.sessions.NextPath(r)
	before, hasSession := s.sessions.UnsignedCaller(r)
	token, ok := r.PostForm.Get("token"), false
	var caller generators.Caller
	var err error
	refused := s.attemptSignIn(r, token, func() bool { caller, ok, err = s.signInWithToken(w, r, token); return ok })
	if refused != nil {
		return s.renderTooMany(w, r, refused, "token", next)
	}
	if err != nil {
		return err
	}
	if !ok {
		s.recordRefusal(r, "token", "wrong token")
		return s.renderLogin(w, r, http.StatusForbidden, "Wrong token.", next)
	}
	s.auditSignIn(r, caller, "token")
	if hasSession {
		s.transferRuns(r, before, caller)
	}
	s.sessions.TakeReturnPath(w, r, "") // the form has the path
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// signInWithToken signs a browser in as whoever has a token. It reports false if nobody
// has.
func (s *Server) signInWithToken(w http.ResponseWriter, r *http.Request, token string) (generators.Caller, bool, error) {
	if caller, ok, err := s.sessions.SignInUser(w, r, token); ok || err != nil {
		return caller, ok, err
	}
	ok, err := s.sessions.SignInWithToken(w, r, token)
	return callers.Token(), ok, err
}

// transferRuns makes a caller the owner of the runs that the caller's browser started
// before it signed in.
func (s *Server) transferRuns(r *http.Request, from, to generators.Caller) {
	if err := s.engine.TransferRuns(r.Context(), from, to); err != nil {
		s.logger.Error("transferring the runs of a browser that signed in", "err", err)
	}
}

// handleOpenIDLogin sends a browser to the identity provider.
func (s *Server) handleOpenIDLogin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	next := s.sessions.NextPath(r)
	address, err := s.openID.Begin(w, r, next)
	if err != nil {
		s.logger.Error("beginning a sign-in", "issuer", s.openID.Name(), "err", err)
		return s.renderLogin(w, r, http.StatusBadGateway, "The identity provider can't be reached now. See the log for details.", next)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// handleOpenIDCallback signs a browser in for which the identity provider vouches.
func (s *Server) handleOpenIDCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	before, hasSession := s.sessions.UnsignedCaller(r)
	person, next, err := s.openID.Finish(w, r)
	if refused, ok := errors.AsType[*openid.RefusedError](err); ok {
		s.logger.Warn("a sign-in was refused", "issuer", s.openID.Name(), "reason", refused.Text, "err", refused.Cause)
		s.recordRefusal(r, "OpenID Connect", refused.Text)
		return s.renderLogin(w, r, http.StatusForbidden, refused.Text, s.links.Home())
	}
	if err == nil {
		err = s.sessions.SignInPerson(w, r, person)
	}
	if err != nil {
		return err
	}
	s.auditSignIn(r, person.Caller, "OpenID Connect")
	if hasSession {
		s.transferRuns(r, before, person.Caller)
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// handleLogout signs a browser out, and disconnects its pages.
func (s *Server) handleLogout(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	request.LimitBodySize(w, r, request.MaxBody)
	if r.FormValue("everywhere") != "" {
		caller, err := s.sessions.SignOutEverywhere(r)
		if err != nil {
			return err
		}
		if caller.ID != "" {
			event := audit.Of(audit.SignedOut, caller)
			event.Address = s.addressOf(r)
			s.audit.Record(event)
			s.live.recheck()
		}
	}
	s.streamSlots.revokeAll(s.sessions.BrowserID(r))
	if err := s.sessions.SignOut(w, r); err != nil {
		return err
	}
	if request.WantsHTML(r) {
		http.Redirect(w, r, s.links.Home(), http.StatusSeeOther)
		return nil
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// renderTooMany renders the sign-in page for somebody who must wait, having tried to sign in
// by a link or a token.
func (s *Server) renderTooMany(w http.ResponseWriter, r *http.Request, refused error, by, next string) error {
	s.recordRefusal(r, by, refused.Error())
	problem.SetRetryAfter(w, http.StatusTooManyRequests, refused)
	return s.renderLogin(w, r, http.StatusTooManyRequests, problem.Sentence(refused.Error()), next)
}

func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: s.sessions.TakesToken() || s.users != nil, SignInCommand: s.signInCommand}
	if s.openID != nil {
		page.OpenID = s.openID.Name()
	}
	return s.render(w, r, status, ui.Login(s.newChrome(r, generators.Caller{}, "Sign in"), page))
}
