package openid_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/identity/openid"
)

// An issuer is an identity provider that misbehaves as a test wants. A whole one runs in
// the tests with browsers.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	signed *rsa.PrivateKey // the key with which it signs
	// change changes the claims of the next ID token.
	change    func(claims map[string]any)
	challenge string // of the sign-in that has begun
	nonce     string
	redeemed  int
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &issuer{key: key, signed: key, change: func(map[string]any) {}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/auth", "token_endpoint": s.URL + "/token", "jwks_uri": s.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", s.serveToken)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.FormValue("code") != "good" || base64.RawURLEncoding.EncodeToString(sum[:]) != s.challenge {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	s.redeemed++
	claims := map[string]any{
		"iss": s.URL, "sub": "248289761001", "aud": "beam", "nonce": s.nonce, "name": "Ada", "groups": []any{"ops", "dev", 7, ""},
		"realm": map[string]any{"roles": "operator"}, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	s.change(claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: s.signed}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		panic(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": token})
}

// A browser signs in at Beam's pages.
type browser struct {
	t      testing.TB
	issuer *issuer
	site   *httptest.Server
	client *http.Client
	person identity.Person
	next   string
	err    error
}

func newBrowser(t testing.TB, s *issuer, change func(*openid.Config)) *browser {
	t.Helper()
	b := &browser{t: t, issuer: s}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var p *openid.Provider
	b.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/beam/login/callback" {
			to, err := p.Begin(w, r, "/beam/runs")
			if err != nil {
				b.err = err
				return
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		b.person, b.next, b.err = p.Finish(w, r)
	}))
	t.Cleanup(b.site.Close)
	site, err := links.ParseSite(b.site.URL + "/beam")
	if err != nil {
		t.Fatal(err)
	}
	c := openid.Config{Issuer: s.URL, ClientID: "beam", ClientSecret: "s3cret", RolesClaim: "groups", Site: site, Keys: identity.NewKeys()}
	change(&c)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	p = openid.New(c)
	return b
}

// begin begins to sign in, and returns the state.
func (b *browser) begin() string {
	b.t.Helper()
	res, err := b.client.Get(b.site.URL + "/beam/login/openid")
	if err != nil {
		b.t.Fatal(err)
	}
	res.Body.Close()
	to, err := res.Location()
	if err != nil {
		b.t.Fatal(err, b.err)
	}
	q := to.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != b.site.URL+"/beam/login/callback" || q.Get("response_type") != "code" || q.Get("client_id") != "beam" {
		b.t.Errorf("the browser is sent to %s", to)
	}
	b.issuer.challenge, b.issuer.nonce = q.Get("code_challenge"), q.Get("nonce")
	return q.Get("state")
}

// finish returns with what the provider says.
func (b *browser) finish(query url.Values) error {
	b.t.Helper()
	res, err := b.client.Get(b.site.URL + "/beam/login/callback?" + query.Encode())
	if err != nil {
		b.t.Fatal(err)
	}
	res.Body.Close()
	return b.err
}

func TestSignIn(t *testing.T) {
	s := newIssuer(t)
	b := newBrowser(t, s, func(*openid.Config) {})
	if err := b.finish(url.Values{"state": {b.begin()}, "code": {"good"}, "iss": {s.URL}}); err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if p := b.person; p.ID != "oidc:"+s.URL+"#248289761001" || p.Name != "Ada" || strings.Join(p.Roles, " ") != "ops dev" || time.Until(p.Until) > 13*time.Hour || b.next != "/beam/runs" {
		t.Errorf("%+v, %s", b.person, b.next)
	}
	nested := newBrowser(t, s, func(c *openid.Config) { c.RolesClaim = "realm.roles" })
	if err := nested.finish(url.Values{"state": {nested.begin()}, "code": {"good"}}); err != nil || strings.Join(nested.person.Roles, " ") != "operator" {
		t.Errorf("%+v, %v", nested.person, err)
	}
	none := newBrowser(t, s, func(c *openid.Config) { c.RolesClaim = "" })
	if err := none.finish(url.Values{"state": {none.begin()}, "code": {"good"}}); err != nil || len(none.person.Roles) != 0 {
		t.Errorf("%+v, %v", none.person, err)
	}
}

// A response is refused that this browser did not ask for, that was used, that is of
// another provider, or whose token isn't what was asked for.
func TestRefusedSignIns(t *testing.T) {
	s := newIssuer(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, attack := range map[string]func(b *browser, good url.Values){
		"no state":               func(_ *browser, q url.Values) { q.Del("state") },
		"another state":          func(_ *browser, q url.Values) { q.Set("state", strings.Repeat("A", 26)) },
		"another browser":        func(b *browser, _ url.Values) { b.client.Jar, _ = cookiejar.New(nil) },
		"a forged cookie":        func(b *browser, _ url.Values) { b.forgeCookie() },
		"another sign-in's code": func(b *browser, _ url.Values) { s.challenge = "of another verifier" },
		"another code":           func(_ *browser, q url.Values) { q.Set("code", "bad") },
		"no code":                func(_ *browser, q url.Values) { q.Del("code"); q.Set("error", "access_denied") },
		"another issuer":         func(_ *browser, q url.Values) { q.Set("iss", "https://evil.example") },
		"another nonce":          func(*browser, url.Values) { s.change = func(c map[string]any) { c["nonce"] = "replayed" } },
		"no nonce":               func(*browser, url.Values) { s.change = func(c map[string]any) { delete(c, "nonce") } },
		"another audience":       func(*browser, url.Values) { s.change = func(c map[string]any) { c["aud"] = "another" } },
		"another party":          func(*browser, url.Values) { s.change = func(c map[string]any) { c["azp"] = "another" } },
		"audiences without party": func(*browser, url.Values) {
			s.change = func(c map[string]any) { c["aud"] = []string{"beam", "another"} }
		},
		"another token's issuer": func(*browser, url.Values) { s.change = func(c map[string]any) { c["iss"] = "https://evil.example" } },
		"an expired token": func(*browser, url.Values) {
			s.change = func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }
		},
		"another key": func(*browser, url.Values) { s.signed = other },
	} {
		s.change, s.signed = func(map[string]any) {}, s.key
		b := newBrowser(t, s, func(*openid.Config) {})
		good := url.Values{"state": {b.begin()}, "code": {"good"}}
		q := maps.Clone(good)
		attack(b, q)
		if err := b.finish(q); err == nil || b.person.ID != "" {
			t.Errorf("%s: %+v, %v", name, b.person, err)
		} else if refused, ok := errors.AsType[*openid.RefusedError](err); !ok || strings.Contains(refused.Text, "evil") {
			t.Errorf("%s: %v", name, err)
		}
		s.change, s.signed = func(map[string]any) {}, s.key
		if err := b.finish(good); err == nil {
			t.Errorf("%s: the same sign-in works afterwards", name)
		}
	}
}

// forgeCookie replaces the browser's cookie by one that it has made up.
func (b *browser) forgeCookie() {
	site, _ := url.Parse(b.site.URL + "/beam/login/callback")
	cookies := b.client.Jar.Cookies(site)
	cookies[0].Value = base64.URLEncoding.EncodeToString([]byte(`{"state":"x","nonce":"y","verifier":"z"}`))
	b.client.Jar.SetCookies(site, cookies)
}

func TestCheck(t *testing.T) {
	site, err := links.ParseSite("https://tools.example")
	if err != nil {
		t.Fatal(err)
	}
	local, err := links.ParseSite("/beam")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]openid.Config{
		"no issuer":        {ClientID: "beam", Site: site},
		"a plain issuer":   {Issuer: "http://accounts.example", ClientID: "beam", Site: site},
		"a query":          {Issuer: "https://accounts.example?x", ClientID: "beam", Site: site},
		"a password":       {Issuer: "https://a:b@accounts.example", ClientID: "beam", Site: site},
		"no client":        {Issuer: "https://accounts.example", Site: site},
		"no known address": {Issuer: "https://accounts.example", ClientID: "beam", Site: local},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%s is valid", name)
		}
	}
}
