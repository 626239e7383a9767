package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gorilla/securecookie"
	gorilla "github.com/gorilla/sessions"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/engine"
)

// Operator owns the runs of the person whose machine it is.
const Operator = "operator"

// Keys sign and encrypt browser sessions.
type Keys struct {
	ID      string `json:"id"` // names the cookie, since ports share cookies
	Signing []byte `json:"signing"`
	Sealing []byte `json:"sealing"`
}

// NewKeys makes keys that end with the process.
func NewKeys() Keys {
	k := Keys{ID: strings.ToLower(rand.Text()[:8]), Signing: make([]byte, 32), Sealing: make([]byte, 32)}
	rand.Read(k.Signing)
	rand.Read(k.Sealing)
	return k
}

// KeysFile is the name of the file in which a folder holds keys.
const KeysFile = "session-keys.json"

// LoadKeys reads the keys from a folder, or makes them there, readable by their
// owner alone.
func LoadKeys(dir string) (Keys, error) {
	file := filepath.Join(dir, KeysFile)
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return createKeys(file)
	}
	if err != nil {
		return Keys{}, err
	}
	var k Keys
	if err := json.Unmarshal(raw, &k); err != nil || k.ID == "" || len(k.Signing) != 32 || len(k.Sealing) != 32 {
		return Keys{}, errors.New(file + " does not hold session keys; remove it, and browsers will have to sign in again")
	}
	return k, nil
}

func createKeys(file string) (Keys, error) {
	k := NewKeys()
	raw, err := json.Marshal(k)
	if err != nil {
		return Keys{}, err
	}
	return k, atomicfile.Write(file, raw) // on a full disk, a part of it would be taken for damage at the next start
}

// sessions knows who makes a request.
type sessions struct {
	store      *gorilla.CookieStore
	cookieName string
	token      string
	// tokenOwner owns the runs of who presents the token.
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

// jsonSerializer writes what a session holds as JSON, which every request reads
// ten times as fast as securecookie's own gob. Its keys are strings.
type jsonSerializer struct{}

var _ securecookie.Serializer = jsonSerializer{}

func (jsonSerializer) Serialize(src any) ([]byte, error) {
	values, ok := src.(map[any]any)
	if !ok {
		return nil, fmt.Errorf("a session holds a map, not %T", src)
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
		return fmt.Errorf("a session is read into a map, not %T", dst)
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

// identify tells who makes a request. A browser that comes for the first time is
// given a session, unless a token is needed: then the error is errSignIn.
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
	var who engine.Caller
	if session.Values["operator"] == true {
		who = append(who, Operator)
	}
	if s.tokenOwner != "" && session.Values["bearer"] == s.tokenOwner {
		who = append(who, s.tokenOwner)
	}
	id, _ := session.Values["id"].(string)
	return append(who, "session:"+id)
}

// load returns the request's session; a cookie that can't be read is as none.
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

// grant marks the browser as the operator's or as the token's holder.
func (s *sessions) grant(w http.ResponseWriter, r *http.Request, what string, value any) error {
	session := s.load(r)
	session.Values[what] = value
	return s.save(w, r, session)
}

func (s *sessions) matchesToken(presented string) bool {
	return s.token != "" && subtle.ConstantTimeCompare([]byte(presented), []byte(s.token)) == 1
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// authenticated adapts a handler: it finds out who calls, and writes the error that
// the handler returns.
func (s *Server) authenticated(h callerHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.sessions.identify(w, r)
		if errors.Is(err, errSignInRequired) && wantsHTML(r) && r.Method == http.MethodGet {
			s.sessions.saveReturnPath(w, r, r.URL.RequestURI())
			http.Redirect(w, r, loginURL(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		if err == nil {
			err = h(w, r, who)
		}
		if errors.Is(err, engine.ErrForbidden) && wantsHTML(r) && r.Method == http.MethodGet {
			// A link carries no authority: whose it is may sign in.
			if !slices.Contains(who, Operator) { // who is one has no use for a sign-in address
				s.sessions.saveReturnPath(w, r, r.URL.RequestURI())
			}
			err = s.renderLogin(w, r, http.StatusForbidden, "This belongs to somebody else. Sign in as its owner to see it.", r.URL.RequestURI())
		}
		if err != nil {
			s.writeError(w, r, err)
		}
	})
}

// unauthenticated adapts a handler that anybody may call.
func (s *Server) unauthenticated(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.writeError(w, r, err)
		}
	})
}
