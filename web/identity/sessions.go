// Package identity determines who sends a request. A caller is a browser with a session
// cookie or a program with the server's token. A browser becomes the operator's with a
// single-use code, and a token holder's with the token. A program that embeds Beam may
// identify callers itself; see [Identifier].
package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/gorilla/securecookie"
	gorilla "github.com/gorilla/sessions"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
)

// Sessions identify the callers of requests. It is safe for concurrent use.
type Sessions struct {
	store      *gorilla.CookieStore
	cookieName string
	site       links.Site
	links      links.Base // the path of the site
	token      string
	required   bool // browsers that haven't signed in are refused
	users      Users
	// trustsPersons means that an identity provider vouches for people.
	trustsPersons bool
	signOuts      signOuts
	// tokenMark is what the session of a browser that presented the token holds. A
	// browser has to sign in again when the token changes.
	tokenMark string
}

// A session expires when it has not been used for sessionLifetime. Its cookie is
// renewed when it is older than sessionRenewal.
const (
	sessionLifetime = 30 * 24 * time.Hour
	sessionRenewal  = 24 * time.Hour
)

// SessionConfig says who signs in to [Sessions], and where.
type SessionConfig struct {
	Keys  Keys   // protect the sessions
	Token string // that browsers may sign in with; empty for none
	Users Users  // who sign in with tokens of their own; nil for none
	// Persons means that an identity provider vouches for people; see [Sessions.SignInPerson].
	Persons bool
	// Required means that browsers that haven't signed in are refused.
	Required bool
	// Site limits cookies to its paths, and to TLS if it has that.
	Site links.Site
}

// NewSessions returns sessions.
func NewSessions(c SessionConfig) *Sessions {
	k, token := c.Keys, c.Token
	s := &Sessions{store: gorilla.NewCookieStore(k.Signing, k.Sealing), cookieName: "beam_" + k.ID, site: c.Site, links: c.Site.Path, token: token, required: c.Required, users: c.Users, trustsPersons: c.Persons, signOuts: k.signOuts}
	s.store.MaxAge(int(sessionLifetime.Seconds()))
	for _, c := range s.store.Codecs {
		if c, ok := c.(*securecookie.SecureCookie); ok {
			c.SetSerializer(jsonSerializer{})
		}
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		s.tokenMark = "bearer:" + hex.EncodeToString(sum[:8])
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

var _ callers.Authenticator = (*Sessions)(nil)

// Authenticate implements [callers.Authenticator] for browsers. If a token is required,
// the error for a browser without a session that has signed in is
// [callers.ErrSignInRequired].
func (s *Sessions) Authenticate(r *http.Request) (generators.Caller, error) {
	session := s.load(r)
	c, err := s.callerOf(session)
	switch {
	case err != nil:
		return generators.Caller{}, err
	case !s.isAdmitted(c):
		return generators.Caller{}, callers.ErrSignInRequired
	case sessionID(session) == "":
		return generators.Caller{}, callers.ErrNoCredentials
	}
	return c, nil
}

// Begin begins a session for a browser that has none, and returns its caller.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request) (generators.Caller, error) {
	session := s.load(r)
	if err := s.save(w, r, session); err != nil {
		return generators.Caller{}, err
	}
	return s.callerOf(session)
}

// Renew renews the cookie of a session that is in use, if it is due. Of a person whose session
// this no longer is, such as one who has ended it elsewhere, nothing remains in it: that end is
// forgotten once the session would have expired.
func (s *Sessions) Renew(w http.ResponseWriter, r *http.Request) error {
	session := s.load(r)
	if sessionID(session) == "" || !isRenewalDue(session) {
		return nil
	}
	c, err := s.callerOf(session)
	if err != nil {
		return err
	}
	if c.ID == callers.Session(sessionID(session)).ID {
		maps.DeleteFunc(session.Values, func(member, _ any) bool { return member != memberID })
	}
	return s.save(w, r, session)
}

// A TokenAuthenticator authenticates programs by the server's token.
type TokenAuthenticator struct{ token string }

var _ callers.Authenticator = TokenAuthenticator{}

// Token returns the authenticator of programs that present the token.
func (s *Sessions) Token() TokenAuthenticator { return TokenAuthenticator{s.token} }

// Authenticate implements [callers.Authenticator].
func (t TokenAuthenticator) Authenticate(r *http.Request) (generators.Caller, error) {
	if presented, ok := callers.BearerToken(r); ok && t.Matches(presented) {
		return callers.Token(), nil
	}
	return generators.Caller{}, callers.ErrNoCredentials
}

// Matches reports whether a text is the token.
func (t TokenAuthenticator) Matches(presented string) bool {
	return t.token != "" && subtle.ConstantTimeCompare([]byte(presented), []byte(t.token)) == 1
}

// BrowserID returns the id of the browser's session, or "" if it has none.
func (s *Sessions) BrowserID(r *http.Request) string { return sessionID(s.load(r)) }

// UnsignedCaller returns the caller that the browser is without having signed in. It
// reports false if the browser has no session.
func (s *Sessions) UnsignedCaller(r *http.Request) (generators.Caller, bool) {
	id := s.BrowserID(r)
	return callers.Session(id), id != ""
}

// The members of a session.
const (
	memberID       = "id"       // a random text
	memberOperator = "operator" // true once the browser has signed in as the operator
	memberToken    = "bearer"   // the mark of the token that the browser has presented
	memberRenewed  = "renewed"  // when the cookie was made, in seconds of Unix time
)

func sessionID(session *gorilla.Session) string {
	id, _ := session.Values[memberID].(string)
	return id
}

// isRenewalDue reports whether the session's cookie is so old that a new one must
// replace it, so that a session that is in use doesn't expire.
func isRenewalDue(session *gorilla.Session) bool {
	renewed, _ := session.Values[memberRenewed].(float64)
	return time.Since(time.Unix(int64(renewed), 0)) > sessionRenewal
}

func isOperator(session *gorilla.Session) bool { return session.Values[memberOperator] == true }

// holdsToken reports whether the browser has presented the token that is required now.
func (s *Sessions) holdsToken(session *gorilla.Session) bool {
	return s.TakesToken() && session.Values[memberToken] == s.tokenMark
}

func (s *Sessions) isAdmitted(c generators.Caller) bool {
	return !s.required || callers.IsSignedIn(c)
}

// callerOf returns whose a session is. The error is that of reading whether it has ended.
func (s *Sessions) callerOf(session *gorilla.Session) (generators.Caller, error) {
	c, signedIn := s.personOf(session)
	switch {
	case signedIn:
	case isOperator(session):
		c = callers.Operator()
	case s.holdsToken(session):
		return callers.Token(), nil
	default:
		return callers.Session(sessionID(session)), nil
	}
	began, _ := session.Values[memberBegan].(float64)
	ended, err := s.signOuts.hasEnded(c.ID, began)
	if err != nil || ended {
		return callers.Session(sessionID(session)), err
	}
	return c, nil
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

// save sets the session's cookie, which is valid from now on.
func (s *Sessions) save(w http.ResponseWriter, r *http.Request, session *gorilla.Session) error {
	if sessionID(session) == "" {
		session.Values[memberID] = rand.Text()
	}
	session.Values[memberRenewed] = float64(time.Now().Unix())
	return s.store.Save(r, w, session)
}

// SignOut removes the browser's session. The browser's next request begins a new one.
func (s *Sessions) SignOut(w http.ResponseWriter, r *http.Request) error {
	session := s.load(r)
	clear(session.Values) // the cookie would be a valid one
	session.Options.MaxAge = -1
	return s.store.Save(r, w, session)
}

// TakesToken reports whether browsers may sign in with the server's token.
func (s *Sessions) TakesToken() bool { return s.token != "" }

// SignInOperator makes the browser's session the operator's.
func (s *Sessions) SignInOperator(w http.ResponseWriter, r *http.Request) error {
	return s.grant(w, r, callers.Operator().ID, map[string]any{memberOperator: true})
}

// SignInWithToken makes the browser's session a holder of the token. It reports false if
// the token presented is wrong.
func (s *Sessions) SignInWithToken(w http.ResponseWriter, r *http.Request, presented string) (bool, error) {
	if !s.Token().Matches(presented) {
		return false, nil
	}
	return true, s.grant(w, r, callers.Token().ID, map[string]any{memberToken: s.tokenMark})
}

// grant makes the browser's session that of the caller with an id. Nothing of the earlier
// session remains, not even its own id, which somebody else may have set in this browser.
func (s *Sessions) grant(w http.ResponseWriter, r *http.Request, id string, members map[string]any) error {
	session := s.load(r)
	clear(session.Values)
	for name, value := range members {
		session.Values[name] = value
	}
	began, err := s.signOuts.nextStart(id)
	if err != nil {
		return err
	}
	session.Values[memberBegan] = began
	return s.save(w, r, session)
}
