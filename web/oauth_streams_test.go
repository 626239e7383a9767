package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/identity/openid"
)

// streamer is an MCP endpoint whose streams end with their requests.
type streamer struct{ whoAmI }

func (streamer) ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, baseURL string) {
	w.WriteHeader(http.StatusOK)
	<-r.Context().Done()
}

// TestStreamsEndWithTheirCredentials checks that a stream of an MCP client lasts no longer
// than what its request was accepted for.
func TestStreamsEndWithTheirCredentials(t *testing.T) {
	signedIn := func(t *testing.T, keys identity.Keys, until time.Time) *http.Cookie {
		w := httptest.NewRecorder()
		person := identity.Person{Caller: callers.OpenID("https://idp.example", "42", "Ada", nil), Until: until}
		if err := identity.NewSessions(identity.SessionConfig{Keys: keys, Persons: true}).SignInPerson(w, httptest.NewRequest("GET", "/", nil), person); err != nil {
			t.Fatal(err)
		}
		return w.Result().Cookies()[0]
	}
	for name, tt := range map[string]struct {
		present func(*testing.T, *http.Request, identity.Keys, *oauthtest.Issuer)
		noOAuth bool
		after   time.Duration // at most
	}{
		"a JWT that expires": {present: func(t *testing.T, r *http.Request, _ identity.Keys, _ *oauthtest.Issuer) {
			r.Header.Set("Authorization", accessToken(t, protectedMCP, map[string]any{"exp": time.Now().Add(5 * time.Minute).Unix()}))
		}, after: 6*time.Minute + time.Second},
		"an opaque token that is revoked": {present: func(t *testing.T, r *http.Request, _ identity.Keys, i *oauthtest.Issuer) {
			i.Tokens["opaque"] = oauthtest.Claims(oauthtest.URL, protectedMCP, map[string]any{"active": true, "token_type": "Bearer"})
			r.Header.Set("Authorization", "Bearer opaque")
			time.AfterFunc(time.Minute, func() { i.Change(func() { delete(i.Tokens, "opaque") }) })
		}, after: 2 * time.Minute},
		"a session for which an identity provider vouched": {present: func(t *testing.T, r *http.Request, keys identity.Keys, _ *oauthtest.Issuer) {
			r.AddCookie(signedIn(t, keys, time.Now().Add(5*time.Minute)))
		}, noOAuth: true, after: 5*time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i, keys := oauthtest.New(oauthtest.URL), identity.NewKeys()
				e, photons := newCallerEngine(t)
				c := web.Config{Engine: e, Photons: photons, Keys: keys, MCP: streamer{}, Hosts: []string{"beam.test"}, Site: links.Site{Origin: "https://beam.test", Path: "/tools"}}
				c.OpenID = openid.New(openid.Config{Issuer: "https://idp.example", ClientID: "beam", Keys: keys})
				if !tt.noOAuth {
					c.OAuth = oauth.NewVerifier(t.Context(), oauth.Config{Issuer: oauthtest.URL, ClientID: "b", ClientSecret: "s", Transport: i})
				}
				server, err := web.New(c)
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r := httptest.NewRequestWithContext(ctx, "POST", "https://beam.test/tools/mcp", nil)
				tt.present(t, r, keys, i)
				w, began := httptest.NewRecorder(), time.Now()
				server.ServeHTTP(w, r)
				if took := time.Since(began); w.Code != http.StatusOK || took > tt.after || took < time.Minute {
					t.Errorf("the response is %d %s, and ended after %s, want %s", w.Code, w.Body, took, tt.after)
				}
			})
		})
	}
}
