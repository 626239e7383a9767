package oauth_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

func introspecting(c *oauth.Config) { c.ClientID, c.ClientSecret = "beam server", "s3cret/+ü" }

// active returns what an issuer says of a token that is accepted, with changes: pairs of
// names and values, of which nil removes.
func active(changed ...any) map[string]any {
	c := claims(map[string]any{"active": true, "token_type": "Bearer", "iss": nil})
	for i := 0; i < len(changed); i += 2 {
		if name := changed[i].(string); changed[i+1] == nil {
			delete(c, name)
		} else {
			c[name] = changed[i+1]
		}
	}
	return c
}

func TestIntrospection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		i.Tokens["opaque"] = active()
		v := newVerifier(t, i, introspecting)
		verify := func() error {
			caller, err := v.Verify(t.Context(), "opaque", resource)
			if err == nil && caller.ID != "oidc:https://login.example/team#ada" {
				t.Errorf("the caller is %+v", caller)
			}
			return err
		}
		for range 3 {
			if err := verify(); err != nil {
				t.Fatal(err)
			}
		}
		if len(i.Asked()) != 1 {
			t.Errorf("the issuer was asked %d times, want 1", len(i.Asked()))
		}
		if asked := i.Asked()[0]; asked.ID != "beam+server" || asked.Secret != "s3cret%2F%2B%C3%BC" || asked.Form.Get("token_type_hint") != "access_token" {
			t.Errorf("the issuer was asked %+v", asked)
		}
		if _, err := v.Verify(t.Context(), "opaque", resource+"/u/files"); err == nil {
			t.Error("the token is remembered for another resource")
		}
		i.Change(func() { delete(i.Tokens, "opaque") }) // it is revoked
		if err := verify(); err != nil {
			t.Errorf("while the answer is remembered: %v", err)
		}
		time.Sleep(31 * time.Second)
		expectRefusal(t, verify(), 401, "invalid_token", "revoked")
		i.Change(func() { i.Tokens["opaque"] = active() })
		expectRefusal(t, verify(), 401, "invalid_token", "revoked")
		time.Sleep(6 * time.Second)
		if err := verify(); err != nil {
			t.Errorf("once it is active: %v", err)
		}
		i.Change(func() { i.Down = true })
		time.Sleep(31 * time.Second)
		expectRefusal(t, verify(), 503, "", "try again later")
	})
}

func TestRefusedIntrospection(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name   string
		answer any
		status int
		want   string
	}{
		{"unknown", nil, 401, "unknown"},
		{"inactive, with claims", active("active", false), 401, "unknown"},
		{"a refresh token", active("token_type", nil), 401, "unknown"},
		{"a token with proof", active("token_type", "DPoP"), 401, "unknown"},
		{"Hydra's refresh token", active("token_use", "refresh_token"), 401, "not an access token"},
		{"another audience", active("aud", "https://other.example"), 401, "is not for"},
		{"no audience", active("aud", nil), 401, "is not for"},
		{"another issuer", active("iss", "https://evil.example"), 401, "another issuer"},
		{"expired", active("exp", now.Add(-time.Hour).Unix()), 401, "has expired"},
		{"another scope", active("scope", "x"), 403, "needs the scope"},
		{"no subject", active("sub", nil), 401, "no subject"},
		{"active as a text", active("active", "true"), 503, ""},
		{"no word about it", active("active", nil), 503, ""},
		{"a list", []any{active()}, 503, ""},
		{"claims of a wrong type", active("aud", 1), 503, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := oauthtest.New(oauthtest.URL)
			if tt.answer != nil {
				i.Tokens["opaque"] = tt.answer
			}
			_, err := newVerifier(t, i, introspecting).Verify(t.Context(), "opaque", resource)
			expectRefusal(t, err, tt.status, map[int]string{401: "invalid_token", 403: "insufficient_scope"}[tt.status], tt.want)
		})
	}
}

// TestManyOpaqueTokens checks that what is remembered of tokens is bounded, and with it
// the requests to the issuer at once.
func TestManyOpaqueTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		v := newVerifier(t, i, introspecting)
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for n := range 1500 {
					_, err := v.Verify(t.Context(), fmt.Sprintf("token-%d-%d", worker, n), resource)
					expectRefusal(t, err, http.StatusUnauthorized, "invalid_token", "unknown")
				}
			})
		}
		all.Wait()
		i.Change(func() { i.Tokens["opaque"] = active() })
		if _, err := v.Verify(t.Context(), "opaque", resource); err != nil {
			t.Error(err)
		}
	})
}

// TestSecretsAreNotLogged checks that no token and no secret is in an error or the log.
func TestSecretsAreNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		i.Metadata["introspection_endpoint"] = oauthtest.URL + "/missing"
		var log strings.Builder
		v := newVerifier(t, i, func(c *oauth.Config) {
			introspecting(c)
			c.Logger = newTestLogger(&log)
		})
		_, err := v.Verify(t.Context(), "very-secret-token", resource)
		expectRefusal(t, err, 503, "", "try again later")
		synctest.Wait() // the verifier logs what it reads by itself
		if got := log.String(); !strings.Contains(got, "404") || strings.Contains(got, "very-secret") || strings.Contains(got, "s3cret") {
			t.Errorf("the log says %q", got)
		}
	})
}
