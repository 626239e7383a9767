package oauth_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

func TestJWT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		ec := newECKey(t)
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		i.Keys = append(i.Keys, jose.JSONWebKey{Key: ec.Public(), KeyID: "e1"}, jose.JSONWebKey{Key: public, KeyID: "o1"},
			map[string]string{"kty": "unheard of", "kid": "r1"}, "no key", jose.JSONWebKey{Key: []byte("shared secret, which is no key of an issuer"), KeyID: "s1"})
		v := newVerifier(t, i, nil)
		caller, err := v.Verify(t.Context(), oauthtest.Good().Sign(t, claims(map[string]any{"sub": "ada lovelace", "realm": map[string]any{"roles": []string{"ops", "dev"}}})), resource)
		if err != nil {
			t.Fatal(err)
		}
		if caller.ID != "oidc:https://login.example/team#ada%20lovelace" || caller.Name != "Ada" || strings.Join(caller.Roles, " ") != "ops dev" {
			t.Errorf("the caller is %+v", caller)
		}
		for name, s := range map[string]oauthtest.Signing{
			"elliptic curve":   oauthtest.With(jose.ES256, ec, "e1", nil),
			"Ed25519":          oauthtest.With(jose.EdDSA, private, "o1", map[jose.HeaderKey]any{"typ": "application/at+jwt"}),
			"without a key id": oauthtest.With(jose.ES256, ec, "", map[jose.HeaderKey]any{"typ": "JWT"}),
		} {
			if _, err := v.Verify(t.Context(), s.Sign(t, claims(nil)), resource); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestRefusedClaims(t *testing.T) {
	v := newVerifier(t, oauthtest.New(oauthtest.URL), nil)
	now := time.Now()
	for _, tt := range []struct {
		name   string
		claims map[string]any // that are other than good ones; nil removes
		status int
		want   string // "" if the token is accepted
	}{
		{"a list of audiences", map[string]any{"aud": []string{"https://other.example", resource}}, 0, ""},
		{"scopes as a list", map[string]any{"scope": nil, "scp": []string{"beam"}}, 0, ""},
		{"Keycloak's type", map[string]any{"typ": "Bearer"}, 0, ""},

		{"the audience of a client", map[string]any{"aud": "client"}, 401, "is not for " + resource},
		{"no audience", map[string]any{"aud": nil}, 401, "is not for"},
		{"an address above", map[string]any{"aud": "https://tools.example/beam"}, 401, "is not for"},
		{"an address below", map[string]any{"aud": resource + "/u/files"}, 401, "is not for"},
		{"a slash too much", map[string]any{"aud": resource + "/"}, 401, "is not for"},
		{"another case", map[string]any{"aud": strings.ToUpper(resource)}, 401, "is not for"},
		{"an audience that is no text", map[string]any{"aud": map[string]any{resource: resource}}, 401, "wrong"},
		{"another issuer", map[string]any{"iss": "https://login.example"}, 401, "another issuer"},
		{"an issuer with a slash", map[string]any{"iss": oauthtest.URL + "/"}, 401, "another issuer"},
		{"no issuer", map[string]any{"iss": nil}, 401, "another issuer"},
		{"expired", map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}, 401, "has expired"},
		{"for ever", map[string]any{"exp": nil}, 401, "no time at which it expires"},
		{"not yet valid", map[string]any{"nbf": now.Add(2 * time.Minute).Unix()}, 401, "not valid yet"},
		{"issued in the future", map[string]any{"iat": now.Add(2 * time.Minute).Unix()}, 401, "not valid yet"},
		{"no subject", map[string]any{"sub": nil}, 401, "no subject"},
		{"a long subject", map[string]any{"sub": strings.Repeat("a", 300)}, 401, "too long"},
		{"another scope", map[string]any{"scope": "openid beams"}, 403, "needs the scope beam"},
		{"no scope", map[string]any{"scope": nil}, 403, "needs the scope beam"},
		{"an ID token", map[string]any{"nonce": "n"}, 401, "not an access token"},
		{"an ID token of a code", map[string]any{"at_hash": "h"}, 401, "not an access token"},
		{"a logout token", map[string]any{"events": map[string]any{}}, 401, "not an access token"},
		{"Keycloak's ID token", map[string]any{"typ": "ID"}, 401, "not an access token"},
		{"Keycloak's refresh token", map[string]any{"typ": "Refresh"}, 401, "not an access token"},
		{"Cognito's ID token", map[string]any{"token_use": "id"}, 401, "not an access token"},
		{"a token bound to a key", map[string]any{"cnf": map[string]any{"jkt": "x"}}, 401, "bound to a key"},
	} {
		claims := claims(nil)
		for name, value := range tt.claims {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		caller, err := v.Verify(t.Context(), oauthtest.Good().Sign(t, claims), resource)
		switch {
		case tt.want == "":
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		case caller.ID != "":
			t.Errorf("%s: the caller is %+v", tt.name, caller)
		}
		code := map[int]string{401: "invalid_token", 403: "insufficient_scope"}[tt.status]
		t.Run(tt.name, func(t *testing.T) { expectRefusal(t, err, tt.status, code, tt.want) })
	}
}

// TestClocksMayDiffer checks that a minute between the clocks of the issuer and of this
// machine is allowed, and no more.
func TestClocksMayDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(t, oauthtest.New(oauthtest.URL), nil)
		verify := func(claim string, at time.Duration) error {
			_, err := v.Verify(t.Context(), oauthtest.Good().Sign(t, claims(map[string]any{claim: time.Now().Add(at).Unix()})), resource)
			return err
		}
		for claim, at := range map[string]time.Duration{"nbf": time.Minute, "iat": time.Minute, "exp": -time.Minute} {
			if err := verify(claim, at); err != nil {
				t.Errorf("with %s a minute off: %v", claim, err)
			}
		}
		expectRefusal(t, verify("nbf", 61*time.Second), 401, "invalid_token", "not valid yet")
		expectRefusal(t, verify("iat", 61*time.Second), 401, "invalid_token", "not valid yet")
		expectRefusal(t, verify("exp", -61*time.Second), 401, "invalid_token", "has expired")
	})
}

func TestRefusedSignatures(t *testing.T) {
	i := oauthtest.New(oauthtest.URL)
	ec := newECKey(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	i.Keys = append(i.Keys, jose.JSONWebKey{Key: ec.Public(), KeyID: "encryption", Use: "enc"}, jose.JSONWebKey{Key: weak.Public(), KeyID: "weak"},
		jose.JSONWebKey{Key: []byte(strings.Repeat("s", 32)), KeyID: "shared"})
	v := newVerifier(t, i, nil)
	der, err := x509.MarshalPKIXPublicKey(oauthtest.Key().Public())
	if err != nil {
		t.Fatal(err)
	}
	good := oauthtest.Good().Sign(t, claims(nil))
	parts := strings.Split(good, ".")
	other := newECKey(t)
	for name, token := range map[string]string{
		"alg none":                          encode(t, map[string]any{"alg": "none", "typ": "at+jwt"}) + "." + parts[1] + ".",
		"alg none with a signature":         encode(t, map[string]any{"alg": "none", "kid": "r1"}) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key as PEM":  oauthtest.With(jose.HS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "r1", nil).Sign(t, claims(nil)),
		"HS256 with the public key as DER":  oauthtest.With(jose.HS256, der, "r1", nil).Sign(t, claims(nil)),
		"HS256 with a published secret":     oauthtest.With(jose.HS256, []byte(strings.Repeat("s", 32)), "shared", nil).Sign(t, claims(nil)),
		"an algorithm that isn't the key's": oauthtest.With(jose.PS256, oauthtest.Key(), "r1", nil).Sign(t, claims(nil)),
		"another key":                       oauthtest.With(jose.ES256, other, "r1", nil).Sign(t, claims(nil)),
		"a key that isn't published":        oauthtest.With(jose.ES256, other, "unknown", nil).Sign(t, claims(nil)),
		"a key for encryption":              oauthtest.With(jose.ES256, ec, "encryption", nil).Sign(t, claims(nil)),
		"a short key":                       oauthtest.With(jose.RS256, weak, "weak", nil).Sign(t, claims(nil)),
		"a key of its own":                  oauthtest.With(jose.ES256, other, "", map[jose.HeaderKey]any{"jwk": jose.JSONWebKey{Key: other.Public()}}).Sign(t, claims(nil)),
		"the address of a key":              oauthtest.With(jose.ES256, other, "", map[jose.HeaderKey]any{"jku": "https://evil.example/jwks", "x5u": "https://evil.example/x5u"}).Sign(t, claims(nil)),
		"a critical header":                 oauthtest.With(jose.RS256, oauthtest.Key(), "r1", map[jose.HeaderKey]any{"crit": []string{"exp"}, "exp": 1}).Sign(t, claims(nil)),
		"the type of a logout token":        oauthtest.With(jose.RS256, oauthtest.Key(), "r1", map[jose.HeaderKey]any{"typ": "logout+jwt"}).Sign(t, claims(nil)),
		"a type that is no text":            oauthtest.With(jose.RS256, oauthtest.Key(), "r1", map[jose.HeaderKey]any{"typ": 1}).Sign(t, claims(nil)),
		"other claims":                      parts[0] + "." + encode(t, map[string]any{"sub": "bob"}) + "." + parts[2],
		"no signature":                      parts[0] + "." + parts[1] + ".",
		"the signature of other bytes":      good[:len(good)-6] + "AAAAAA",
		"no claims":                         parts[0] + ".." + parts[2],
		"opaque":                            "opaque",
		"five parts":                        good + ".a.b",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Verify(t.Context(), token, resource)
			expectRefusal(t, err, 401, "invalid_token", "")
		})
	}
	if n := i.Count("/team/x5u") + len(i.Asked()); n != 0 {
		t.Errorf("the tokens caused %d requests", n)
	}
}

// TestPlainIssuer checks that nothing is fetched from an address that others can read or
// change on its way.
func TestPlainIssuer(t *testing.T) {
	for _, issuer := range []string{"", "login.example", "http://login.example", "ftp://login.example", "https://login.example?x", "https://login.example#x", "https://me@login.example", "https://", "file:///etc/passwd"} {
		c := oauth.Config{Issuer: issuer}
		if c.Validate() == nil {
			t.Errorf("the issuer %q is accepted", issuer)
		}
	}
	for _, scope := range []string{"", "a b", `a"b`, `a\b`, "a\n", "é"} {
		c := oauth.Config{Issuer: oauthtest.URL, Scopes: []string{scope}}
		if c.Validate() == nil {
			t.Errorf("the scope %q is accepted", scope)
		}
	}
	i := oauthtest.New(oauthtest.URL)
	i.Metadata["jwks_uri"] = "http://login.example/team/jwks"
	_, err := newVerifier(t, i, nil).Verify(t.Context(), oauthtest.Good().Sign(t, claims(nil)), resource)
	expectRefusal(t, err, 503, "", "")
	if i.Count("/team/jwks") > 0 {
		t.Error("keys were fetched without TLS")
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}
