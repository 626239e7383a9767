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

	"github.com/photon-beam/beam/internal/lasting"
	"github.com/photon-beam/beam/internal/run"
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
		return storeKeys(file)
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

func storeKeys(file string) (Keys, error) {
	k := NewKeys()
	raw, err := json.Marshal(k)
	if err != nil {
		return Keys{}, err
	}
	return k, lasting.Write(file, raw) // on a full disk, a part of it would be taken for damage at the next start
}

// sessions knows who makes a request.
type sessions struct {
	store *gorilla.CookieStore
	name  string
	token string
	// bearer owns the runs of who presents the token.
	bearer string
}

const sessionAge = 30 * 24 * 60 * 60 // seconds

func newSessions(k Keys, token string) *sessions {
	s := &sessions{store: gorilla.NewCookieStore(k.Signing, k.Sealing), name: "beam_" + k.ID, token: token}
	s.store.MaxAge(sessionAge)
	for _, c := range s.store.Codecs {
		if c, ok := c.(*securecookie.SecureCookie); ok {
			c.SetSerializer(jsonValues{})
		}
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		s.bearer = "bearer:" + hex.EncodeToString(sum[:8])
	}
	return s
}

// jsonValues writes what a session holds as JSON, which every request reads
// ten times as fast as securecookie's own gob. Its keys are strings.
type jsonValues struct{}

var _ securecookie.Serializer = jsonValues{}

func (jsonValues) Serialize(src any) ([]byte, error) {
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

func (jsonValues) Deserialize(raw []byte, dst any) error {
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

// caller tells who makes a request. A browser that comes for the first time is
// given a session, unless a token is needed: then the error is errSignIn.
func (s *sessions) caller(w http.ResponseWriter, r *http.Request) (run.Caller, error) {
	if presented, ok := bearerToken(r); ok {
		if !s.isToken(presented) {
			return nil, errSignIn
		}
		return run.Caller{s.bearer}, nil
	}
	session := s.get(r)
	if s.token != "" && session.Values["bearer"] != s.bearer && session.Values["operator"] != true {
		return nil, errSignIn
	}
	if session.Values["id"] == nil {
		session.Values["id"] = rand.Text()
		if err := s.save(w, r, session); err != nil {
			return nil, err
		}
	}
	return s.owners(session), nil
}

func (s *sessions) owners(session *gorilla.Session) run.Caller {
	var who run.Caller
	if session.Values["operator"] == true {
		who = append(who, Operator)
	}
	if s.bearer != "" && session.Values["bearer"] == s.bearer {
		who = append(who, s.bearer)
	}
	id, _ := session.Values["id"].(string)
	return append(who, "session:"+id)
}

// get returns the request's session; a cookie that can't be read is as none.
func (s *sessions) get(r *http.Request) *gorilla.Session {
	session, err := s.store.New(r, s.name)
	if err != nil {
		session = gorilla.NewSession(s.store, s.name)
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
	session := s.get(r)
	session.Values[what] = value
	return s.save(w, r, session)
}

func (s *sessions) isToken(presented string) bool {
	return s.token != "" && subtle.ConstantTimeCompare([]byte(presented), []byte(s.token)) == 1
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// handle adapts a handler: it finds out who calls, and writes the error that
// the handler returns.
func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.sessions.caller(w, r)
		if errors.Is(err, errSignIn) && wantsPage(r) && r.Method == http.MethodGet {
			s.sessions.want(w, r, r.URL.RequestURI())
			http.Redirect(w, r, loginAddress(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		if err == nil {
			err = h(w, r, who)
		}
		if errors.Is(err, run.ErrForbidden) && wantsPage(r) && r.Method == http.MethodGet {
			// A link carries no authority: whose it is may sign in.
			if !slices.Contains(who, Operator) { // who is one has no use for a sign-in address
				s.sessions.want(w, r, r.URL.RequestURI())
			}
			err = s.loginPage(w, r, http.StatusForbidden, "This belongs to somebody else. Sign in as its owner to see it.", r.URL.RequestURI())
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// handleOpen adapts a handler that anybody may call.
func (s *Server) handleOpen(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}
