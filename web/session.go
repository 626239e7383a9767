package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/securecookie"
	gorilla "github.com/gorilla/sessions"

	"github.com/photon-beam/beam/internal/engine"
)

// Operator is the owner of the runs of this machine's operator.
const Operator = "operator"

// sessions identifies the callers of requests.
type sessions struct {
	store      *gorilla.CookieStore
	cookieName string
	token      string
	// tokenOwner owns the runs of callers that present the token.
	tokenOwner string
}

const sessionMaxAge = 30 * 24 * 60 * 60 // seconds

func newSessions(k Keys, token string) *sessions {
	s := &sessions{store: gorilla.NewCookieStore(k.Signing, k.Sealing), cookieName: "beam_" + k.ID, token: token}
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

// identify returns the caller of a request. It creates a session for a new browser,
// unless a token is required: then the error is errSignInRequired.
func (s *sessions) identify(w http.ResponseWriter, r *http.Request) (engine.Caller, error) {
	if presented, ok := bearerToken(r); ok {
		if !s.matchesToken(presented) {
			return nil, errSignInRequired
		}
		return engine.Caller{s.tokenOwner}, nil
	}
	session := s.load(r)
	if s.token != "" && session.Values["bearer"] != s.tokenOwner && session.Values["operator"] != true {
		return nil, errSignInRequired
	}
	if session.Values["id"] == nil {
		session.Values["id"] = rand.Text()
		if err := s.save(w, r, session); err != nil {
			return nil, err
		}
	}
	return s.callerOf(session), nil
}

func (s *sessions) callerOf(session *gorilla.Session) engine.Caller {
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
func (s *sessions) load(r *http.Request) *gorilla.Session {
	session, err := s.store.New(r, s.cookieName)
	if err != nil {
		session = gorilla.NewSession(s.store, s.cookieName)
		options := *s.store.Options
		session.Options = &options
	}
	session.Options.Path = "/"
	session.Options.HttpOnly = true
	session.Options.SameSite = http.SameSiteLaxMode
	session.Options.Secure = r.TLS != nil
	return session
}

func (s *sessions) save(w http.ResponseWriter, r *http.Request, session *gorilla.Session) error {
	if session.Values["id"] == nil {
		session.Values["id"] = rand.Text()
	}
	return s.store.Save(r, w, session)
}

// grant stores a value in the browser's session that marks it as the operator's or as a
// holder of the token.
func (s *sessions) grant(w http.ResponseWriter, r *http.Request, key string, value any) error {
	session := s.load(r)
	session.Values[key] = value
	return s.save(w, r, session)
}

func (s *sessions) matchesToken(presented string) bool {
	return s.token != "" && subtle.ConstantTimeCompare([]byte(presented), []byte(s.token)) == 1
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}
