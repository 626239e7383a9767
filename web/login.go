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

// signInCodes are the single-use codes that sign a browser in as the operator. It is
// safe for concurrent use.
type signInCodes struct {
	mu    sync.Mutex
	codes map[[sha256.Size]byte]time.Time // when each was issued, by its hash
}

// Limits on unused codes.
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

// redeem consumes a code and reports whether it was valid.
func (s *signInCodes) redeem(code string) bool {
	key := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	issued, ok := s.codes[key]
	delete(s.codes, key)
	return ok && time.Since(issued) < signInCodeLifetime
}

// SignInPath returns a new single-use path. The first browser that opens it is signed in
// as the operator.
func (s *Server) SignInPath() string { return "/login?code=" + s.signInCodes.issue() }

// handleLogin redeems a sign-in code, or says how to sign in.
func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a link checker must not consume the code
		return s.renderLogin(w, r, http.StatusOK, "", nextPath(r))
	}
	if !s.signInCodes.redeem(code) {
		return s.renderLogin(w, r, http.StatusForbidden, "This sign-in address was already used or has expired. To get a new one, run "+s.program+" open.", nextPath(r))
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
		return s.renderLogin(w, r, http.StatusForbidden, "Wrong token.", nextPath(r))
	}
	if err := s.sessions.grant(w, r, "bearer", s.sessions.tokenOwner); err != nil {
		return err
	}
	s.sessions.takeReturnPath(w, r, "") // the form has the path
	http.Redirect(w, r, nextPath(r), http.StatusSeeOther)
	return nil
}

func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: s.sessions.token != "", Program: s.program}
	return s.render(w, r, status, ui.Login(s.newChrome(r, nil, "Sign in"), page))
}

func loginURL(next string) string { return "/login?" + url.Values{"next": {next}}.Encode() }
