package oauth_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

func TestKeyRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		v := newVerifier(t, i, nil)
		key := newECKey(t)
		old, next := oauthtest.Good(), oauthtest.With(jose.ES256, key, "e2", nil)
		verify := func(s oauthtest.Signing) error {
			_, err := v.Verify(t.Context(), s.Sign(t, claims(nil)), resource)
			return err
		}
		if err := verify(old); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		i.Change(func() { i.Keys = append(i.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: "e2"}) })
		if err := verify(next); err != nil {
			t.Errorf("with the new key: %v", err)
		}
		i.Change(func() { i.Keys = i.Keys[1:] })
		if err := verify(old); err != nil {
			t.Errorf("with the old key, which was fetched just now: %v", err)
		}
		time.Sleep(10 * time.Minute)
		expectRefusal(t, verify(old), 401, "invalid_token", "doesn't publish") // it may have been stolen
		if err := verify(next); err != nil {
			t.Errorf("with the new key: %v", err)
		}
	})
}

// TestUnknownKeys checks that tokens with keys that nobody has published don't become as
// many requests to the issuer.
func TestUnknownKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		v := newVerifier(t, i, nil)
		synctest.Wait()
		time.Sleep(time.Minute)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				s := oauthtest.Good()
				s.KeyID = "unknown"
				_, err := v.Verify(t.Context(), s.Sign(t, claims(nil)), resource)
				expectRefusal(t, err, 401, "invalid_token", "doesn't publish")
			})
		}
		all.Wait()
		if n := i.Count("/team/jwks"); n != 2 {
			t.Errorf("the keys were fetched %d times, want 2", n)
		}
	})
}

func TestIssuerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		i.Down = true
		var log strings.Builder
		v := newVerifier(t, i, func(c *oauth.Config) { c.Logger = newTestLogger(&log) })
		synctest.Wait()
		if !strings.Contains(log.String(), "can't read from the authorization server") || !strings.Contains(log.String(), oauthtest.URL) {
			t.Errorf("the log says %q", log.String())
		}
		token := oauthtest.Good().Sign(t, claims(nil))
		_, err := v.Verify(t.Context(), token, resource)
		expectRefusal(t, err, http.StatusServiceUnavailable, "", "try again later")
		i.Change(func() { i.Down = false })
		time.Sleep(5 * time.Second)
		if _, err := v.Verify(t.Context(), token, resource); err != nil {
			t.Errorf("once the issuer is there: %v", err)
		}

		// Its keys are used for a while if it goes away again.
		i.Change(func() { i.Down = true })
		time.Sleep(50 * time.Minute)
		if _, err := v.Verify(t.Context(), token, resource); err != nil {
			t.Errorf("after 50 minutes: %v", err)
		}
		time.Sleep(11 * time.Minute)
		_, err = v.Verify(t.Context(), token, resource)
		expectRefusal(t, err, http.StatusServiceUnavailable, "", "try again later")
	})
}

// TestCanceledRequest checks that a client that leaves doesn't decide what others get.
func TestCanceledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := oauthtest.New(oauthtest.URL)
		i.Down = true
		leave := func() {}
		v := newVerifier(t, i, func(c *oauth.Config) { c.Transport = leaving{i, func() { leave() }} })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		leave = cancel
		i.Change(func() { i.Down = false })
		time.Sleep(5 * time.Second)
		token := oauthtest.Good().Sign(t, claims(nil))
		v.Verify(ctx, token, resource) // leave is called while Beam fetches
		if _, err := v.Verify(t.Context(), token, resource); err != nil || ctx.Err() == nil {
			t.Errorf("the next client gets %v", err)
		}
	})
}

// leaving is an issuer whose client leaves when a request reaches it.
type leaving struct {
	*oauthtest.Issuer
	leave func()
}

// RoundTrip implements [http.RoundTripper].
func (l leaving) RoundTrip(r *http.Request) (*http.Response, error) {
	l.leave()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return l.Issuer.RoundTrip(r)
}

// TestDiscovery checks where metadata is found, and that only the issuer's own counts.
func TestDiscovery(t *testing.T) {
	for _, at := range []string{"/.well-known/oauth-authorization-server/team", "/.well-known/openid-configuration/team", "/team/.well-known/openid-configuration"} {
		i := oauthtest.New(oauthtest.URL)
		i.Path = at
		if _, err := newVerifier(t, i, nil).Verify(t.Context(), oauthtest.Good().Sign(t, claims(nil)), resource); err != nil {
			t.Errorf("metadata at %s: %v", at, err)
		}
	}
	for name, change := range map[string]func(*oauthtest.Issuer){
		"another issuer":        func(i *oauthtest.Issuer) { i.Metadata["issuer"] = "https://evil.example/team" },
		"no keys":               func(i *oauthtest.Issuer) { delete(i.Metadata, "jwks_uri") },
		"an empty list of keys": func(i *oauthtest.Issuer) { i.Keys = nil },
		"another address":       func(i *oauthtest.Issuer) { i.Path = "/metadata" },
		"a redirect":            func(i *oauthtest.Issuer) { i.Moved = "https://evil.example/" },
		"too much":              func(i *oauthtest.Issuer) { i.Metadata["x"] = strings.Repeat("x", 1<<20) },
	} {
		i := oauthtest.New(oauthtest.URL)
		change(i)
		_, err := newVerifier(t, i, nil).Verify(t.Context(), oauthtest.Good().Sign(t, claims(nil)), resource)
		t.Run(name, func(t *testing.T) { expectRefusal(t, err, 503, "", "can't be verified") })
	}
}
