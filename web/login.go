package web

import (
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
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
		return s.renderTooMany(w, r, err, next)
	}
	if !valid {
		problem := "This sign-in address was already used or has expired."
		return s.renderLogin(w, r, http.StatusForbidden, problem, next)
	}
	if err := s.sessions.SignInOperator(w, r); err != nil {
		return err
	}
	http.Redirect(w, r, s.sessions.TakeReturnPath(w, r, next), http.StatusSeeOther)
	return nil
}

// handleTokenLogin signs a browser in with the server's token. The runs that the browser
// started before a token was required come along.
func (s *Server) handleTokenLogin(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	next := s.sessions.NextPath(r)
	token, ok := r.PostForm.Get("token"), false
	var err error
	refused := s.attemptSignIn(r, token, func() bool { ok, err = s.sessions.SignInWithToken(w, r, token); return ok })
	if refused != nil {
		return s.renderTooMany(w, r, refused, next)
	}
	if err != nil {
		return err
	}
	if !ok {
		return s.renderLogin(w, r, http.StatusForbidden, "Wrong token.", next)
	}
	if before, ok := s.sessions.UnsignedCaller(r); ok {
		if err := s.engine.TransferRuns(r.Context(), before, callers.Token()); err != nil {
			s.logger.Error("transferring the runs of a browser that signed in", "err", err)
		}
	}
	s.sessions.TakeReturnPath(w, r, "") // the form has the path
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// handleLogout signs a browser out, and disconnects its pages.
func (s *Server) handleLogout(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	s.streamSlots.revokeAll(s.sessions.BrowserID(r))
	if err := s.sessions.SignOut(w, r); err != nil {
		return err
	}
	if wantsHTML(r) {
		http.Redirect(w, r, s.links.Home(), http.StatusSeeOther)
		return nil
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// renderTooMany renders the sign-in page for somebody who must wait.
func (s *Server) renderTooMany(w http.ResponseWriter, r *http.Request, refused error, next string) error {
	setRetryAfter(w, http.StatusTooManyRequests, refused)
	return s.renderLogin(w, r, http.StatusTooManyRequests, asSentence(refused.Error()), next)
}

func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: s.sessions.TakesToken(), SignInCommand: s.signInCommand}
	return s.render(w, r, status, ui.Login(s.newChrome(r, generators.Caller{}, "Sign in"), page))
}
