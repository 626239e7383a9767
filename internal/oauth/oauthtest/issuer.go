// Package oauthtest is an authorization server for tests, as far as a resource server needs
// one: it has metadata and keys, makes tokens, and introspects them.
package oauthtest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Key is an issuer's first key, whose id is KeyID. It is made once, since that takes long.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// KeyID is the id of [Key].
const KeyID = "r1"

// URL is the issuer's URL, if it is only reached as an [http.RoundTripper].
const URL = "https://login.example/team"

// An Issuer is an authorization server, as an [http.Handler] and, for those that reach it
// without a network, as an [http.RoundTripper]. Change its fields with Change.
type Issuer struct {
	Path     string         // of the metadata
	Metadata map[string]any // its members
	Keys     []any          // that are published
	Tokens   map[string]any // what is said of opaque tokens
	Down     bool           // it can't be reached
	Moved    string         // where all requests are redirected to, if not empty

	mu    sync.Mutex
	paths []string // of the requests
	asked []Introspection
}

var (
	_ http.Handler      = (*Issuer)(nil)
	_ http.RoundTripper = (*Issuer)(nil)
)

// An Introspection is a request about a token.
type Introspection struct {
	ID, Secret string // of who asks, as they were sent
	Form       url.Values
}

// New returns the issuer of a URL.
func New(issuer string) *Issuer {
	return &Issuer{
		Path:     "/.well-known/oauth-authorization-server" + path(issuer),
		Metadata: map[string]any{"issuer": issuer, "jwks_uri": issuer + "/jwks", "introspection_endpoint": issuer + "/introspect"},
		Keys:     []any{jose.JSONWebKey{Key: Key().Public(), KeyID: KeyID, Use: "sig", Algorithm: "RS256"}},
		Tokens:   map[string]any{},
	}
}

func path(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		panic(err)
	}
	return u.Path
}

// Start serves an issuer on the loopback interface, and returns it with its URL.
func Start(t testing.TB) (*Issuer, string) {
	server := httptest.NewUnstartedServer(nil)
	i := New("http://" + server.Listener.Addr().String())
	server.Config.Handler = i
	server.Start()
	t.Cleanup(server.Close)
	return i, server.URL
}

// Change calls f while nothing else uses the issuer.
func (i *Issuer) Change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// Count returns how many requests there were for a path.
func (i *Issuer) Count(path string) (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, p := range i.paths {
		if p == path {
			n++
		}
	}
	return n
}

// Asked returns the requests about tokens.
func (i *Issuer) Asked() []Introspection {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.asked)
}

// RoundTrip implements [http.RoundTripper].
func (i *Issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	down := i.Down
	i.mu.Unlock()
	if down {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), nil
}

// ServeHTTP implements [http.Handler].
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.paths = append(i.paths, r.URL.Path)
	prefix := path(i.Metadata["issuer"].(string))
	switch {
	case i.Down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case i.Moved != "":
		http.Redirect(w, r, i.Moved, http.StatusFound)
	case r.URL.Path == i.Path:
		writeJSON(w, i.Metadata)
	case r.URL.Path == prefix+"/jwks":
		writeJSON(w, map[string]any{"keys": i.Keys})
	case r.URL.Path == prefix+"/introspect" && r.Method == http.MethodPost:
		i.introspect(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) introspect(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, secret, _ := r.BasicAuth()
	i.asked = append(i.asked, Introspection{id, secret, r.PostForm})
	answer, ok := i.Tokens[r.PostForm.Get("token")]
	if !ok {
		answer = map[string]any{"active": false}
	}
	writeJSON(w, answer)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

// Claims returns the claims of a valid token of an issuer, for a resource, with changes;
// one that is nil is removed.
func Claims(issuer, resource string, changes map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": issuer, "aud": resource, "sub": "ada", "scope": "openid beam", "name": "Ada", "jti": "x", "client_id": "c",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// A Signing is how a token is signed.
type Signing struct {
	Algorithm jose.SignatureAlgorithm
	Key       any
	KeyID     string
	Header    map[jose.HeaderKey]any
}

// Good returns the signing of a valid token.
func Good() Signing {
	return With(jose.RS256, Key(), KeyID, map[jose.HeaderKey]any{"typ": "at+jwt"})
}

// With returns another signing.
func With(algorithm jose.SignatureAlgorithm, key any, keyID string, header map[jose.HeaderKey]any) Signing {
	return Signing{algorithm, key, keyID, header}
}

// Sign makes a token.
func (s Signing) Sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: s.Algorithm, Key: jose.JSONWebKey{Key: s.Key, KeyID: s.KeyID}}, &jose.SignerOptions{ExtraHeaders: s.Header})
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
