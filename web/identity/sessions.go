// Package identity determines who sends a request. A caller is a browser with a session
// cookie or a program with the server's token. A browser becomes the operator's with a
// single-use code, and a token holder's with the token.
package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/securecookie"
	gorilla "github.com/gorilla/sessions"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
)

// Operator is the owner of the runs of this machine's operator.
const Operator = "operator"

// ErrSignInRequired means that the request needs the server's token or a session that
// has signed in.
var ErrSignInRequired = errors.New("sign in first: send the header Authorization: Bearer TOKEN, or open the sign-in page in a browser")

// Sessions identify the callers of requests. It is safe for concurrent use.
type Sessions struct {
	store      *gorilla.CookieStore
	cookieName string
	site       links.Site
	links      links.Base // the path of the site
	token      string
	// tokenOwner owns the runs of callers that present the token.
	tokenOwner string
}

const sessionMaxAge = 30 * 24 * 60 * 60 // seconds

// NewSessions returns sessions that k protects. Token, if set, is required from every
// client. Cookies are limited to the site's paths, and to TLS if the site has it.
func NewSessions(k Keys, token string, site links.Site) *Sessions {
	s := &Sessions{store: gorilla.NewCookieStore(k.Signing, k.Sealing), cookieName: "beam_" + k.ID, site: site, links: site.Path, token: token}
	s.store.MaxAge(sessionMaxAge)
	for _, c := range s.store.Codecs {
		if c, ok := c.(*securecookie.SecureCookie); ok {
			c.SetSerializer(jsonSerializer{})
		}
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		s.tokenOwner = "bearer:" + hex.EncodeToString(sum[:8])
	}
	return s
}

// jsonSerializer encodes sessions, whose keys are strings, as JSON. Decoding it, which
// every request does, is ten times as fast as securecookie's default, gob.
type jsonSerializer struct{}

var _ securecookie.Serializer = jsonSerializer{}

func (jsonSerializer) Serialize(src any) ([]byte, error) {
	values, ok := src.(map[any]any)
	if !ok {
		return nil, fmt.Errorf("can't encode a session of type %T", src)
	}
	plain := make(map[string]any, len(values))
	for k, v := range values {
		plain[fmt.Sprint(k)] = v
	}
	return json.Marshal(plain)
}

func (jsonSerializer) Deserialize(raw []byte, dst any) error {
	values, ok := dst.(*map[any]any)
	if !ok {
		return fmt.Errorf("can't decode a session into a %T", dst)
	}
	var plain map[string]any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	*values = make(map[any]any, len(plain))
	for k, v := range plain {
		(*values)[k] = v
	}
	return nil
}

// Identify returns the caller of a request. It creates a session for a new browser,
// unless a token is required: then the error is [ErrSignInRequired].
func (s *Sessions) Identify(w http.ResponseWriter, r *http.Request) (engine.Caller, error) {
	if presented, ok := bearerToken(r); ok {
		if !s.matchesToken(presented) {
			return nil, ErrSignInRequired
		}
		return engine.Caller{s.tokenOwner}, nil
	}
	session := s.load(r)
	if s.token != "" && session.Values["bearer"] != s.tokenOwner && session.Values["operator"] != true {
		return nil, ErrSignInRequired
	}
	if session.Values["id"] == nil {
		session.Values["id"] = rand.Text()
		if err := s.save(w, r, session); err != nil {
			return nil, err
		}
	}
	return s.callerOf(session), nil
}

// IdentifyProgram returns the caller of a request of a program that keeps no cookies,
// such as an MCP client. If no token is required, it is the operator: a program that can
// reach the loopback address runs on the operator's machine.
func (s *Sessions) IdentifyProgram(w http.ResponseWriter, r *http.Request) (engine.Caller, error) {
	if _, presented := bearerToken(r); presented || s.RequiresToken() {
		return s.Identify(w, r)
	}
	return engine.Caller{Operator}, nil
}

func (s *Sessions) callerOf(session *gorilla.Session) engine.Caller {
	var caller engine.Caller
	if session.Values["operator"] == true {
		caller = append(caller, Operator)
	}
	if s.tokenOwner != "" && session.Values["bearer"] == s.tokenOwner {
		caller = append(caller, s.tokenOwner)
	}
	id, _ := session.Values["id"].(string)
	return append(caller, "session:"+id)
}

// load returns the request's session, or a new one if its cookie can't be read.
func (s *Sessions) load(r *http.Request) *gorilla.Session {
	session, err := s.store.New(r, s.cookieName)
	if err != nil {
		session = gorilla.NewSession(s.store, s.cookieName)
		options := *s.store.Options
		session.Options = &options
	}
	session.Options.Path = s.links.Home()
	session.Options.HttpOnly = true
	session.Options.SameSite = http.SameSiteLaxMode
	session.Options.Secure = s.isSecure(r)
	return session
}

// isSecure reports whether the browser that sent the request reaches Beam over TLS.
func (s *Sessions) isSecure(r *http.Request) bool { return r.TLS != nil || s.site.Secure() }

func (s *Sessions) save(w http.ResponseWriter, r *http.Request, session *gorilla.Session) error {
	if session.Values["id"] == nil {
		session.Values["id"] = rand.Text()
	}
	return s.store.Save(r, w, session)
}

// RequiresToken reports whether every client must present the token.
func (s *Sessions) RequiresToken() bool { return s.token != "" }

// SignInOperator makes the browser's session the operator's.
func (s *Sessions) SignInOperator(w http.ResponseWriter, r *http.Request) error {
	return s.grant(w, r, "operator", true)
}

// SignInWithToken makes the browser's session a holder of the token. It reports false if
// the token presented is wrong.
func (s *Sessions) SignInWithToken(w http.ResponseWriter, r *http.Request, presented string) (bool, error) {
	if !s.matchesToken(presented) {
		return false, nil
	}
	return true, s.grant(w, r, "bearer", s.tokenOwner)
}

// grant stores a value in the browser's session.
func (s *Sessions) grant(w http.ResponseWriter, r *http.Request, key string, value any) error {
	session := s.load(r)
	session.Values[key] = value
	return s.save(w, r, session)
}

func (s *Sessions) matchesToken(presented string) bool {
	return s.RequiresToken() && subtle.ConstantTimeCompare([]byte(presented), []byte(s.token)) == 1
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}
