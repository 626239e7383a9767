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

// signIns are the single-use codes that make a browser the operator's.
type signIns struct {
	mu    sync.Mutex
	codes map[[sha256.Size]byte]time.Time // when each was made
}

// A code that nobody used is worth nothing after a day, and no more than this
// many are kept.
const (
	codeAge  = 24 * time.Hour
	maxCodes = 100
)

func newSignIns() *signIns { return &signIns{codes: make(map[[sha256.Size]byte]time.Time)} }

func (s *signIns) issue() string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) >= maxCodes {
		clear(s.codes)
	}
	s.codes[sha256.Sum256([]byte(code))] = time.Now()
	return code
}

// redeem uses a code up.
func (s *signIns) redeem(code string) bool {
	key := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.codes[key]
	delete(s.codes, key)
	return ok && time.Since(made) < codeAge
}

// SignInPath is a new address, to be appended to the server's own, that makes
// the first browser that opens it the operator's.
func (s *Server) SignInPath() string { return "/login?code=" + s.signIns.issue() }

// login redeems a sign-in address, or says how to sign in.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a checker of links uses nothing up
		return s.loginPage(w, r, http.StatusOK, "", next(r))
	}
	if !s.signIns.redeem(code) {
		return s.loginPage(w, r, http.StatusForbidden, "This sign-in address was used already or is too old. The command "+s.program+" open makes a new one.", next(r))
	}
	if err := s.sessions.grant(w, r, "operator", true); err != nil {
		return err
	}
	http.Redirect(w, r, s.sessions.wanted(w, r, next(r)), http.StatusSeeOther)
	return nil
}

// loginToken signs a browser in with the server's token.
func (s *Server) loginToken(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	if !s.sessions.isToken(r.PostForm.Get("token")) {
		return s.loginPage(w, r, http.StatusForbidden, "That is not the token that this Beam was started with.", next(r))
	}
	if err := s.sessions.grant(w, r, "bearer", s.sessions.bearer); err != nil {
		return err
	}
	s.sessions.wanted(w, r, "") // the form knew it
	http.Redirect(w, r, next(r), http.StatusSeeOther)
	return nil
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request, status int, problem, next string) error {
	page := ui.LoginPage{Error: problem, Next: next, Token: s.sessions.token != "", Program: s.program}
	return s.render(w, r, status, ui.Login(s.chrome(r, nil, "Sign in"), page))
}

func loginAddress(next string) string { return "/login?" + url.Values{"next": {next}}.Encode() }
