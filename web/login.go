package web

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/photon-beam/beam/web/ui"
)

// signInCodes are the single-use codes that make a browser the operator's.
type signInCodes struct {
	mu    sync.Mutex
	codes map[[sha256.Size]byte]time.Time // when each was made
}

// A code that nobody used is worth nothing after a day, and no more than this
// many are kept.
const (
	signInCodeLifetime = 24 * time.Hour
	maxSignInCodes     = 100
)

func newSignInCodes() *signInCodes { return &signInCodes{codes: make(map[[sha256.Size]byte]time.Time)} }

func (s *signInCodes) issue() string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) >= maxSignInCodes {
		clear(s.codes)
	}
	s.codes[sha256.Sum256([]byte(code))] = time.Now()
	return code
}

// redeem uses a code up.
func (s *signInCodes) redeem(code string) bool {
	key := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.codes[key]
	delete(s.codes, key)
	return ok && time.Since(made) < signInCodeLifetime
}

// SignInPath is a new address, to be appended to the server's own, that makes
// the first browser that opens it the operator's.
func (s *Server) SignInPath() string { return "/login?code=" + s.signInCodes.issue() }

// handleLogin redeems a sign-in address, or says how to sign in.
func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a checker of links uses nothing up
		return s.renderLogin(w, r, http.StatusOK, "", nextPath(r))
	}
	if !s.signInCodes.redeem(code) {
		return s.renderLogin(w, r, http.StatusForbidden, "This sign-in address was used already or is too old. The command "+s.program+" open makes a new one.", nextPath(r))
	}
	if err := s.sessions.grant(w, r, "operator", true); err != nil {
		return err
	}
	http.Redirect(w, r, s.sessions.takeReturnPath(w, r, nextPath(r)), http.StatusSeeOther)
	return nil
}

// handleTokenLogin signs a browser in with the server's token.
func (s *Server) handleTokenLogin(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	if !s.sessions.matchesToken(r.PostForm.Get("token")) {
		return s.renderLogin(w, r, http.StatusForbidden, "That is not the token that this Beam was started with.", nextPath(r))
	}
	if err := s.sessions.grant(w, r, "bearer", s.sessions.tokenOwner); err != nil {
		return err
	}
	s.sessions.takeReturnPath(w, r, "") // the form knew it
	http.Redirect(w, r, nextPath(r), http.StatusSeeOther)
	return nil
}

func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: s.sessions.token != "", Program: s.program}
	return s.render(w, r, status, ui.Login(s.newChrome(r, nil, "Sign in"), page))
}

func loginURL(next string) string { return "/login?" + url.Values{"next": {next}}.Encode() }
