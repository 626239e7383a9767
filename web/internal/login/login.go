// Package login signs people in and out, and shows who is signed in.
package login

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/identity/openid"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Handlers sign people in and out.
type Handlers struct {
	Engine   *engine.Engine
	Callers  *access.Callers
	Trail    *access.Trail
	OpenID   *openid.Provider // nil for none
	Links    links.Base
	Pages    *page.Renderer
	SignOuts *access.SignOuts
	Logger   *slog.Logger
}

// Login redeems a sign-in code, or says how to sign in.
func (h *Handlers) Login(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	next := h.Callers.Sessions.NextPath(r)
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a link checker must not consume the code
		return h.Render(w, r, http.StatusOK, "", next)
	}
	valid, err := false, error(nil)
	refused := h.Callers.Attempts.Try(r, code, func() bool {
		valid, err = h.Callers.Attempts.Codes.Redeem(r.Context(), code)
		return valid
	})
	switch {
	case refused != nil:
		return h.renderTooMany(w, r, refused, "link", next)
	case err != nil:
		return err
	}
	if !valid {
		problem := "This sign-in address was already used or has expired."
		h.Trail.Refused(r, "link", problem)
		return h.Render(w, r, http.StatusForbidden, problem, next)
	}
	if err := h.Callers.Sessions.SignInOperator(w, r); err != nil {
		return err
	}
	h.Trail.SignedIn(r, callers.Operator(), "link")
	http.Redirect(w, r, h.Callers.Sessions.TakeReturnPath(w, r, next), http.StatusSeeOther)
	return nil
}

// TokenLogin signs a browser in with a user's token, or the server's. The runs that
// the browser started before it had to sign in come along.
func (h *Handlers) TokenLogin(w http.ResponseWriter, r *http.Request) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	next := h.Callers.Sessions.NextPath(r)
	before, hasSession := h.Callers.Sessions.UnsignedCaller(r)
	token, ok := r.PostForm.Get("token"), false
	var caller generators.Caller
	var err error
	refused := h.Callers.Attempts.Try(r, token, func() bool { caller, ok, err = h.signInWithToken(w, r, token); return ok })
	if refused != nil {
		return h.renderTooMany(w, r, refused, "token", next)
	}
	if err != nil {
		return err
	}
	if !ok {
		h.Trail.Refused(r, "token", "wrong token")
		return h.Render(w, r, http.StatusForbidden, "Wrong token.", next)
	}
	h.Trail.SignedIn(r, caller, "token")
	if hasSession {
		h.transferRuns(r, before, caller)
	}
	h.Callers.Sessions.TakeReturnPath(w, r, "") // the form has the path
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// signInWithToken signs a browser in as whoever has a token. It reports false if nobody
// has.
func (h *Handlers) signInWithToken(w http.ResponseWriter, r *http.Request, token string) (generators.Caller, bool, error) {
	if caller, ok, err := h.Callers.Sessions.SignInUser(w, r, token); ok || err != nil {
		return caller, ok, err
	}
	ok, err := h.Callers.Sessions.SignInWithToken(w, r, token)
	return callers.Token(), ok, err
}

// transferRuns makes a caller the owner of the runs that the caller's browser started
// before it signed in.
func (h *Handlers) transferRuns(r *http.Request, from, to generators.Caller) {
	if err := h.Engine.TransferRuns(r.Context(), from, to); err != nil {
		h.Logger.Error("transferring the runs of a browser that signed in", "err", err)
	}
}

// OpenIDLogin sends a browser to the identity provider.
func (h *Handlers) OpenIDLogin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	next := h.Callers.Sessions.NextPath(r)
	address, err := h.OpenID.Begin(w, r, next)
	if err != nil {
		h.Logger.Error("beginning a sign-in", "issuer", h.OpenID.Name(), "err", err)
		return h.Render(w, r, http.StatusBadGateway, "The identity provider can't be reached now. See the log for details.", next)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// OpenIDCallback signs a browser in for which the identity provider vouches.
func (h *Handlers) OpenIDCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	before, hasSession := h.Callers.Sessions.UnsignedCaller(r)
	person, next, err := h.OpenID.Finish(w, r)
	if refused, ok := errors.AsType[*openid.RefusedError](err); ok {
		h.Logger.Warn("a sign-in was refused", "issuer", h.OpenID.Name(), "reason", refused.Text, "err", refused.Cause)
		h.Trail.Refused(r, "OpenID Connect", refused.Text)
		return h.Render(w, r, http.StatusForbidden, refused.Text, h.Links.Home())
	}
	if err == nil {
		err = h.Callers.Sessions.SignInPerson(w, r, person)
	}
	if err != nil {
		return err
	}
	h.Trail.SignedIn(r, person.Caller, "OpenID Connect")
	if hasSession {
		h.transferRuns(r, before, person.Caller)
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// Logout signs a browser out, and disconnects its pages.
func (h *Handlers) Logout(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	request.LimitBodySize(w, r, request.MaxBody)
	if r.FormValue("everywhere") != "" {
		caller, err := h.Callers.Sessions.SignOutEverywhere(r)
		if err != nil {
			return err
		}
		if caller.ID != "" {
			h.Trail.SignedOut(r, caller)
		}
	}
	if err := h.SignOuts.Tell(r.Context(), h.Callers.Sessions.BrowserID(r)); err != nil {
		return err
	}
	if err := h.Callers.Sessions.SignOut(w, r); err != nil {
		return err
	}
	if request.WantsHTML(r) {
		http.Redirect(w, r, h.Links.Home(), http.StatusSeeOther)
		return nil
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// renderTooMany renders the sign-in page for somebody who must wait, having tried to sign in
// by a link or a token.
func (h *Handlers) renderTooMany(w http.ResponseWriter, r *http.Request, refused error, by, next string) error {
	h.Trail.Refused(r, by, refused.Error())
	problem.SetRetryAfter(w, http.StatusTooManyRequests, refused)
	return h.Render(w, r, http.StatusTooManyRequests, problem.Sentence(refused.Error()), next)
}

// Render renders the sign-in page, with a problem if there is one. It leads on to next.
func (h *Handlers) Render(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: h.Callers.Sessions.TakesToken() || h.Callers.Attempts.Users != nil, SignInCommand: h.Pages.SignInCommand}
	if h.OpenID != nil {
		page.OpenID = h.OpenID.Name()
	}
	return h.Pages.Render(w, r, status, ui.Login(h.Pages.Chrome(r, generators.Caller{}, "Sign in"), page))
}
