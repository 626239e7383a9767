package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

// TestGrantEnds checks when a request in progress ends whose token stops being valid.
func TestGrantEnds(t *testing.T) {
	revoke := func(i *oauthtest.Issuer) { i.Tokens["opaque"] = map[string]any{"active": false} }
	other := newECKey(t)
	withdraw := func(i *oauthtest.Issuer) { i.Keys = []any{jose.JSONWebKey{Key: other.Public(), KeyID: "other"}} }
	for _, tt := range []struct {
		name   string
		jwt    bool
		exp    any // a duration from now, or nil
		change func(*oauthtest.Issuer)
		after  time.Duration // at most; 0 means that it goes on for a day
	}{
		{"a JWT that expires", true, 5 * time.Minute, nil, 6*time.Minute + time.Second},
		{"a JWT whose key is withdrawn", true, 24 * time.Hour, withdraw, 11 * time.Minute},
		{"a JWT, while the issuer is unreachable", true, 5 * time.Minute, func(i *oauthtest.Issuer) { i.Down = true }, 6*time.Minute + time.Second},
		{"an opaque token that expires", false, 5 * time.Minute, nil, 6*time.Minute + time.Second},
		{"a revoked one", false, time.Hour, revoke, time.Minute},
		{"one that lost a scope", false, nil, func(i *oauthtest.Issuer) { i.Tokens["opaque"] = active("scope", "x") }, time.Minute},
		{"one that lost a role", false, nil, func(i *oauthtest.Issuer) { i.Tokens["opaque"] = active("exp", nil) }, time.Minute},
		{"one of somebody else", false, nil, func(i *oauthtest.Issuer) { i.Tokens["opaque"] = active("sub", "eve", "exp", nil) }, time.Minute},
		{"one while the issuer is unreachable", false, nil, func(i *oauthtest.Issuer) { i.Down = true }, 11 * time.Minute},
		{"one that expires while the issuer is unreachable", false, 5 * time.Minute, func(i *oauthtest.Issuer) { i.Down = true }, 6*time.Minute + time.Second},
		{"one that stays valid", false, nil, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i, token, exp := oauthtest.New(oauthtest.URL), "opaque", any(nil)
				if d, ok := tt.exp.(time.Duration); ok {
					exp = time.Now().Add(d).Unix()
				}
				roles := map[string]any{"roles": []string{"ops"}}
				i.Tokens["opaque"] = active("exp", exp, "realm", roles)
				if tt.jwt {
					token = oauthtest.Good().Sign(t, claims(map[string]any{"exp": exp, "realm": roles}))
				}
				grant, err := newVerifier(t, i, introspecting).Verify(t.Context(), token, resource)
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := grant.While(t.Context())
				defer stop()
				time.Sleep(3 * time.Minute)
				if ctx.Err() != nil {
					t.Fatal("the request ended before anything changed")
				}
				if tt.change != nil {
					i.Change(func() { tt.change(i) })
				}
				if tt.after == 0 {
					if time.Sleep(24 * time.Hour); ctx.Err() != nil {
						t.Errorf("the request ended: %v", context.Cause(ctx))
					}
					return
				}
				began := time.Now()
				<-ctx.Done()
				if took := time.Since(began); took > tt.after || !errors.Is(context.Cause(ctx), oauth.ErrEnded) {
					t.Errorf("the request ended after %s by %v, want %s", took, context.Cause(ctx), tt.after)
				}
			})
		})
	}
}

// A slowIssuer takes a second to respond.
type slowIssuer struct{ *oauthtest.Issuer }

func (s slowIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Second) // of the bubble that its callers are in
	return s.Issuer.RoundTrip(r)
}

// TestIssuerIsAskedOnceForManyRequests checks that requests with the same token share what
// the issuer says of it.
func TestIssuerIsAskedOnceForManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		i.Tokens["opaque"] = active("exp", nil)
		v := newVerifier(t, i, func(c *oauth.Config) { introspecting(c); c.Transport = slowIssuer{i} })
		for range 200 {
			grant, err := v.Verify(t.Context(), "opaque", resource)
			if err != nil {
				t.Fatal(err)
			}
			_, stop := grant.While(t.Context())
			defer stop()
		}
		time.Sleep(time.Minute)
		if asked := len(i.Asked()); asked > 50 { // at most 16 at once, which the others wait for
			t.Errorf("the issuer was asked %d times in a minute", asked)
		}
	})
}
