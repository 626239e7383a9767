package servecmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/links"
)

func TestOAuthFlags(t *testing.T) {
	site := links.Site{Origin: "https://tools.example", Path: "/beam"}
	const issuer = "https://login.example"
	for _, tt := range []struct {
		flags oauthFlags
		site  links.Site
		want  string // "" if the flags are valid
	}{
		{oauthFlags{}, links.Site{}, ""},
		{oauthFlags{OAuthIssuer: issuer, OAuthScope: []string{"beam"}, AllowOrigin: []string{"https://client.example"}}, site, ""},
		{oauthFlags{OAuthIssuer: issuer}, links.Site{Path: "/beam"}, "--oauth-issuer requires --url with a host"},
		{oauthFlags{OAuthIssuer: "http://login.example"}, site, "must begin with https://"},
		{oauthFlags{OAuthIssuer: issuer, OAuthScope: []string{"a b"}}, site, "is not a scope"},
		{oauthFlags{OAuthScope: []string{"beam"}}, site, "require --oauth-issuer"},
		{oauthFlags{OAuthRoles: "roles"}, site, "require --oauth-issuer"},
		{oauthFlags{OAuthIssuer: issuer, OAuthClientID: "beam"}, site, "require each other"},
		{oauthFlags{AllowOrigin: []string{"*"}}, site, "--allow-origin"},
		{oauthFlags{AllowOrigin: []string{"null"}}, site, "--allow-origin"},
		{oauthFlags{AllowOrigin: []string{"https://client.example/page"}}, site, "--allow-origin"},
	} {
		err := tt.flags.validate(tt.site)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.flags, err, tt.want)
		}
	}
}

func TestClientSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	flags := oauthFlags{OAuthIssuer: "https://login.example", OAuthClientID: "beam", OAuthClientSecretFile: file}
	if _, err := flags.verification(); err == nil {
		t.Error("a missing file is accepted")
	}
	for content, want := range map[string]string{"s3cret\n": "s3cret", "s3cret": "s3cret", "\n": "", strings.Repeat("a", 5000): ""} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := flags.verification()
		if (err == nil) != (want != "") || err == nil && c.ClientSecret != want {
			t.Errorf("%.10q is %+v, %v", content, c, err)
		}
	}
}
