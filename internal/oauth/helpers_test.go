package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

const resource = "https://tools.example/beam/mcp"

// newVerifier returns a verifier of an issuer's tokens; configure completes its
// configuration.
func newVerifier(t *testing.T, i *oauthtest.Issuer, configure func(*oauth.Config)) *oauth.Verifier {
	t.Helper()
	c := oauth.Config{Issuer: oauthtest.URL, Scopes: []string{"beam"}, RolesClaim: "realm.roles", Transport: i}
	if configure != nil {
		configure(&c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return oauth.NewVerifier(t.Context(), c)
}

// claims returns the claims of a valid token, with changes.
func claims(changes map[string]any) map[string]any {
	return oauthtest.Claims(oauthtest.URL, resource, changes)
}

func newECKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// expectRefusal checks why a token is refused.
func expectRefusal(t *testing.T, err error, status int, code, text string) {
	t.Helper()
	var r *oauth.Refusal
	if !errors.As(err, &r) || r.Status != status || r.Code != code || !strings.Contains(r.Text, text) {
		t.Errorf("the error is %#v, want %d %s %q", err, status, code, text)
	}
}

func newTestLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
