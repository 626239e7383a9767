package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
	"github.com/photon-beam/beam/web"
)

// whoAmI is an MCP endpoint that responds with its caller.
type whoAmI struct{ noMCP }

var _ web.MCPHandler = whoAmI{}

func (whoAmI) ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, baseURL string) {
	fmt.Fprint(w, caller.ID)
}

func (whoAmI) ServeUpstreamHTTP(w http.ResponseWriter, r *http.Request, upstream string, caller generators.Caller, baseURL string) {
	fmt.Fprint(w, caller.ID, " at ", upstream)
}

const (
	protectedMCP      = "https://beam.test/tools/mcp"
	protectedMetadata = "https://beam.test/tools/.well-known/oauth-protected-resource/mcp"
)

// newProtectedSite returns a site below https://beam.test/tools, whose MCP endpoint takes
// access tokens of an issuer.
func newProtectedSite(t *testing.T, configure func(*web.Config)) (*site, *oauthtest.Issuer) {
	t.Helper()
	i := oauthtest.New(oauthtest.URL)
	return newSiteWith(t, func(c *web.Config) {
		c.MCP, c.Token = whoAmI{}, "s3cret"
		c.Site = links.Site{Origin: "https://beam.test", Path: "/tools"}
		c.OAuth = oauth.NewVerifier(t.Context(), oauth.Config{Issuer: oauthtest.URL, Scopes: []string{"beam", "tools"}, Transport: i})
		if configure != nil {
			configure(c)
		}
	}), i
}

// accessToken returns a token for a resource, with changed claims.
func accessToken(t *testing.T, resource string, changes map[string]any) string {
	t.Helper()
	claims := oauthtest.Claims(oauthtest.URL, resource, map[string]any{"scope": "beam tools"})
	for name, value := range changes {
		claims[name] = value
	}
	return "Bearer " + oauthtest.Good().Sign(t, claims)
}

func TestResourceMetadata(t *testing.T) {
	s, _ := newProtectedSite(t, nil)
	p := s.newSession()
	for path, want := range map[string]string{
		"/.well-known/oauth-protected-resource/tools/mcp":         protectedMCP, // from a proxy that forwards the path
		"/tools/.well-known/oauth-protected-resource/mcp":         protectedMCP,
		"/.well-known/oauth-protected-resource/mcp":               protectedMCP, // from a proxy that removes the path
		"/.well-known/oauth-protected-resource/tools/mcp/u/files": protectedMCP + "/u/files",
		"/tools/.well-known/oauth-protected-resource/mcp/u/files": protectedMCP + "/u/files",
		"/.well-known/oauth-protected-resource/mcp/u/a%22b":       protectedMCP + "/u/a%22b",
	} {
		for _, host := range []string{"beam.test", "localhost"} {
			res := p.request("GET", path, "", "Host", host, "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
			expectStatus(t, res, http.StatusOK)
			got := decodeJSON[oauth.ResourceMetadata](t, res)
			if got.Resource != want || len(got.AuthorizationServers) != 1 || got.AuthorizationServers[0] != oauthtest.URL || strings.Join(got.Scopes, " ") != "beam tools" || strings.Join(got.BearerMethods, " ") != "header" {
				t.Errorf("%s at %s: %+v", path, host, got)
			}
			if len(res.Cookies()) > 0 || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s has the headers %v", path, res.Header)
			}
		}
	}
	expectStatus(t, p.request("GET", "/.well-known/oauth-protected-resource/tools/mcp", "", "Host", "evil.example"), http.StatusForbidden)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/", "/.well-known/oauth-protected-resource/runs", "/.well-known/oauth-protected-resource/mcp/"} {
		expectStatus(t, p.request("GET", path, "", "Authorization", "Bearer s3cret"), http.StatusNotFound)
	}
	plain := newSiteWith(t, func(c *web.Config) { c.MCP = whoAmI{} }).newSession()
	expectStatus(t, plain.request("GET", "/.well-known/oauth-protected-resource/mcp", ""), http.StatusNotFound)
}

func TestProtectedEndpoint(t *testing.T) {
	s, i := newProtectedSite(t, nil)
	browser := s.newSession()
	expectStatus(t, browser.request("POST", "/login", "token=s3cret", "Content-Type", "application/x-www-form-urlencoded"), http.StatusSeeOther)
	good := accessToken(t, protectedMCP, nil)
	challenge := `Bearer resource_metadata="` + protectedMetadata + `", scope="beam tools"`
	for _, tt := range []struct {
		name, path, authorization string
		status                    int
		want                      string // the caller or, in the header WWW-Authenticate, what follows the challenge
	}{
		{"an access token", "/mcp", good, 200, "oidc:" + oauthtest.URL + "#ada"},
		{"the site's path", "/tools/mcp", good, 200, "oidc:" + oauthtest.URL + "#ada"},
		{"Beam's own token", "/mcp", "Bearer s3cret", 200, "token"},
		{"nothing", "/mcp", "", 401, ""},
		{"another scheme", "/mcp", "Basic YTpi", 401, ""},
		{"a wrong token", "/mcp", "Bearer wrong", 401, `, error="invalid_token", error_description="the token is not a JWT"`},
		{"a token for another endpoint", "/mcp", accessToken(t, protectedMCP+"/u/files", nil), 401, `, error="invalid_token", error_description="the token is not for ` + protectedMCP + `"`},
		{"too few scopes", "/mcp", accessToken(t, protectedMCP, map[string]any{"scope": "beam"}), 403, `, error="insufficient_scope", error_description="the token needs the scope beam tools"`},
		{"no token", "/mcp", "Bearer ", 400, `, error="invalid_request", error_description="the header Authorization must be Bearer, a space, and an access token"`},
		{"a token in the URL", "/mcp?access_token=" + good[len("Bearer "):], "", 400, `, error="invalid_request", error_description="an access token must be in the header Authorization, not in the URL"`},
		{"two tokens", "/mcp?access_token=x", good, 400, `, error="invalid_request", error_description="an access token must be in the header Authorization, not in the URL"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"POST", "GET", "DELETE"} {
				headers := []string{"Host", "beam.test", "Accept", "text/html"}
				if tt.authorization != "" {
					headers = append(headers, "Authorization", tt.authorization)
				}
				res := browser.request(method, tt.path, "", headers...) // its cookie doesn't count
				got := readText(t, res)
				if tt.status != 200 {
					got = res.Header.Get("WWW-Authenticate")
					tt.want = challenge + strings.TrimPrefix(tt.want, challenge)
				}
				if res.StatusCode != tt.status || got != tt.want {
					t.Errorf("%s: %s, %s, want %d, %s", method, res.Status, got, tt.status, tt.want)
				}
			}
		})
	}
	upstream := accessToken(t, protectedMCP+"/u/files", nil)
	if got := readText(t, browser.request("POST", "/mcp/u/files", "", "Host", "beam.test", "Authorization", upstream)); got != "oidc:"+oauthtest.URL+"#ada at files" {
		t.Errorf("the upstream's endpoint: %s", got)
	}
	res := browser.request("POST", "/mcp/u/files", "", "Host", "beam.test", "Authorization", good)
	expectStatus(t, res, http.StatusUnauthorized)
	if got := res.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer resource_metadata="`+protectedMetadata+`/u/files", scope=`) {
		t.Errorf("the upstream's endpoint wants %s", got)
	}
	for _, path := range []string{"/runs", "/photons/wizard", "/asks"} { // no other endpoint takes access tokens
		expectStatus(t, browser.request("GET", path, "", "Host", "beam.test", "Authorization", good), http.StatusUnauthorized)
	}
	if got := i.Asked(); len(got) != 0 {
		t.Errorf("the issuer was asked %v", got)
	}
}

// TestProtectedEndpointUnavailable checks the response while tokens can't be verified.
func TestProtectedEndpointUnavailable(t *testing.T) {
	i := oauthtest.New(oauthtest.URL)
	i.Down = true
	s, _ := newProtectedSite(t, func(c *web.Config) {
		c.OAuth = oauth.NewVerifier(t.Context(), oauth.Config{Issuer: oauthtest.URL, Transport: i})
	})
	p := s.newSession()
	res := p.request("POST", "/mcp", "", "Host", "beam.test", "Authorization", accessToken(t, protectedMCP, nil))
	expectStatus(t, res, http.StatusServiceUnavailable)
	if res.Header.Get("Retry-After") == "" || res.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("the response has the headers %v", res.Header)
	}
	expectStatus(t, p.request("POST", "/mcp", "", "Host", "beam.test"), http.StatusUnauthorized)
	expectStatus(t, p.request("POST", "/mcp", "", "Host", "beam.test", "Authorization", "Bearer s3cret"), http.StatusOK)
}

// TestProtectedEndpointOnLoopback checks that access tokens, once there are any, are
// required on this machine, too.
func TestProtectedEndpointOnLoopback(t *testing.T) {
	s, _ := newProtectedSite(t, func(c *web.Config) {
		c.Token, c.Site = "", links.Site{Origin: "http://localhost:3008"}
	})
	p := s.newSession()
	res := p.request("POST", "/mcp", "")
	expectStatus(t, res, http.StatusUnauthorized)
	if got := res.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer resource_metadata="http://localhost:3008/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("the challenge is %s", got)
	}
	if got := readText(t, p.request("POST", "/mcp", "", "Authorization", accessToken(t, "http://localhost:3008/mcp", nil))); !strings.HasSuffix(got, "#ada") {
		t.Errorf("with a token: %s", got)
	}
	expectStatus(t, p.request("GET", "/runs", ""), http.StatusOK) // as before
}

// TestProtectedEndpointOfProgram checks that the people of a program that embeds Beam
// remain who they are.
func TestProtectedEndpointOfProgram(t *testing.T) {
	s, _ := newProtectedSite(t, func(c *web.Config) { c.Identify = people })
	p := s.newSession()
	for _, tt := range []struct {
		headers []string
		status  int
		want    string
	}{
		{[]string{"User", "bob"}, 200, "bob"},
		{[]string{"User", "banned", "Authorization", accessToken(t, protectedMCP, nil)}, 403, ""},
		{[]string{"Authorization", accessToken(t, protectedMCP, nil)}, 200, "oidc:" + oauthtest.URL + "#ada"},
		{nil, 401, ""},
	} {
		res := p.request("POST", "/mcp", "", append(tt.headers, "Host", "beam.test")...)
		if got := readText(t, res); res.StatusCode != tt.status || tt.status == 200 && got != tt.want {
			t.Errorf("%v: %s, %s", tt.headers, res.Status, got)
		}
	}
	if !callers.IsSignedIn(generators.Caller{ID: "oidc:" + oauthtest.URL + "#ada"}) {
		t.Error("who has an access token isn't signed in")
	}
}

// TestAllowedOrigins checks what the pages of other sites may do.
func TestAllowedOrigins(t *testing.T) {
	s, _ := newProtectedSite(t, func(c *web.Config) { c.AllowedOrigins = []string{"https://client.example"} })
	p := s.newSession()
	expectStatus(t, p.request("POST", "/login", "token=s3cret", "Content-Type", "application/x-www-form-urlencoded"), http.StatusSeeOther)
	good := accessToken(t, protectedMCP, nil)
	from := func(origin string, headers ...string) []string {
		return append([]string{"Host", "beam.test", "Origin", origin, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, headers...)
	}
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,mcp-param-x"}
	for _, path := range []string{"/mcp", "/tools/mcp", "/mcp/u/files", "/.well-known/oauth-protected-resource/tools/mcp"} {
		res := p.request("OPTIONS", path, "", from("https://client.example", preflight...)...)
		expectStatus(t, res, http.StatusNoContent)
		h := res.Header
		if h.Get("Access-Control-Allow-Origin") != "https://client.example" || h.Get("Access-Control-Allow-Headers") != "Authorization, *" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "DELETE") ||
			h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Vary") != "Origin" {
			t.Errorf("%s: the headers are %v", path, h)
		}
	}
	res := p.request("POST", "/mcp", "", from("https://client.example", "Authorization", good)...)
	expectStatus(t, res, http.StatusOK)
	if exposed := res.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Mcp-Session-Id") || !strings.Contains(exposed, "WWW-Authenticate") || !strings.Contains(exposed, "MCP-Protocol-Version") {
		t.Errorf("the page can read %q", exposed)
	}
	res = p.request("POST", "/mcp", "", from("https://client.example")...) // with the cookie of a browser that has signed in
	expectStatus(t, res, http.StatusUnauthorized)
	if res.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the page can't read the challenge")
	}
	for _, origin := range []string{"null", "https://evil.example", "https://client.example.evil.example", "http://client.example", "https://client.example:8443", "https://CLIENT.example", "https://client.example/", ""} {
		for _, path := range []string{"/mcp", "/mcp/u/files", "/.well-known/oauth-protected-resource/tools/mcp"} {
			res := p.request("OPTIONS", path, "", from(origin, preflight...)...)
			if res.StatusCode != http.StatusForbidden || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %q: %s, %v", path, origin, res.Status, res.Header)
			}
		}
		expectStatus(t, p.request("POST", "/mcp", "", from(origin, "Authorization", good)...), http.StatusForbidden)
	}
	for _, path := range []string{"/", "/runs", "/photons/wizard/runs", "/mcp/request", "/login", "/mcpx", "/asks"} {
		for _, method := range []string{"OPTIONS", "POST"} {
			res := p.request(method, path, "", from("https://client.example", append(preflight, "Authorization", "Bearer s3cret")...)...)
			if res.StatusCode != http.StatusForbidden || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %s, %v", method, path, res.Status, res.Header)
			}
		}
	}
	expectStatus(t, p.request("POST", "/mcp", "", append(from("https://client.example", "Authorization", good), "Host", "evil.example")...), http.StatusForbidden)
	twice, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	twice.Host = "beam.test"
	twice.Header["Origin"] = []string{"https://client.example", "https://evil.example"}
	if res, err := p.client.Do(twice); err != nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("two origins: %v, %v", res, err)
	}
}

// TestAllowedOriginWithoutSignIn checks that the pages of an allowed origin are a local
// client if nobody has to sign in, and not the operator whose cookie the browser has.
func TestAllowedOriginWithoutSignIn(t *testing.T) {
	s := newSiteWith(t, func(c *web.Config) { c.MCP, c.AllowedOrigins = roles{}, []string{"http://localhost:6274"} })
	p := s.newSession()
	p.signIn()
	headers := []string{"Origin", "http://localhost:6274", "Sec-Fetch-Site", "same-site"}
	if got := readText(t, p.request("POST", "/mcp", "", headers...)); got != `{"ID":"operator","Name":"","Roles":null}`+"\n" {
		t.Errorf("the caller is %s", got)
	}
}

// TestAllowedOriginHasNoCookies checks that the pages of an allowed origin aren't the person
// who has signed in in the same browser, which sends the cookie along: pages on other ports
// of this machine are of the same site.
func TestAllowedOriginHasNoCookies(t *testing.T) {
	s := newSiteWith(t, func(c *web.Config) {
		c.MCP, c.Token, c.AllowedOrigins = whoAmI{}, "a token of the server", []string{"http://localhost:6274"}
	})
	p := s.newSession()
	p.signIn()
	expectStatus(t, p.request("POST", "/mcp", ""), http.StatusOK) // a page of Beam's own
	headers := []string{"Origin", "http://localhost:6274", "Sec-Fetch-Site", "same-site"}
	expectStatus(t, p.request("POST", "/mcp", "", headers...), http.StatusUnauthorized)
	expectStatus(t, p.request("POST", "/mcp", "", append(headers, "Authorization", "Bearer a token of the server")...), http.StatusOK)
}

// roles is an MCP endpoint that responds with all it knows of its caller.
type roles struct{ whoAmI }

func (roles) ServeHTTP(w http.ResponseWriter, r *http.Request, caller generators.Caller, baseURL string) {
	json.NewEncoder(w).Encode(map[string]any{"ID": caller.ID, "Name": caller.Name, "Roles": caller.Roles})
}
