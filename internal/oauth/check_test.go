package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

// expectFinding checks that there is one finding with a text, which says how to mend it
// unless it is right.
func expectFinding(t *testing.T, findings []oauth.Finding, status, text string) {
	t.Helper()
	var found int
	for _, f := range findings {
		if (f.Status == oauth.FindingOK) != (f.Mend == "") {
			t.Errorf("%+v has a way to mend it, or none, and shouldn't", f)
		}
		if f.Status == status && strings.Contains(f.Text, text) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d findings are %s: %s, want 1: %+v", found, status, text, findings)
	}
}

// newCompleteIssuer returns an issuer that has all that MCP clients need.
func newCompleteIssuer() *oauthtest.Issuer {
	i := oauthtest.New(oauthtest.URL)
	for name, value := range map[string]any{
		"authorization_endpoint": oauthtest.URL + "/auth", "token_endpoint": oauthtest.URL + "/token", "registration_endpoint": oauthtest.URL + "/register",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"code_challenge_methods_supported": []string{"S256"}, "client_id_metadata_document_supported": true, "authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"beam"},
	} {
		i.Metadata[name] = value
	}
	return i
}

func TestCheckIssuer(t *testing.T) {
	findings, m := oauth.CheckIssuer(t.Context(), newCompleteIssuer(), oauthtest.URL)
	for _, f := range findings {
		if f.Status != oauth.FindingOK {
			t.Errorf("a complete issuer: %+v", f)
		}
	}
	if m.Issuer != oauthtest.URL || m.TokenEndpoint != oauthtest.URL+"/token" {
		t.Errorf("its metadata are %+v", m)
	}
	for _, tt := range []struct {
		member       string
		value        any
		status, text string
	}{
		{"issuer", "https://login.example/team/", "problem", `is about the issuer "https://login.example/team/"`},
		{"authorization_endpoint", "", "problem", "has no authorization_endpoint"},
		{"token_endpoint", "http://login.example/token", "problem", "without TLS"},
		{"response_types_supported", []string{"id_token"}, "problem", "no authorization code flow"},
		{"grant_types_supported", []string{"client_credentials"}, "problem", "no authorization code flow"},
		{"code_challenge_methods_supported", nil, "problem", "doesn't list S256"},
		{"code_challenge_methods_supported", []string{"plain"}, "problem", "doesn't list S256"},
		{"client_id_metadata_document_supported", false, "ok", "by dynamic registration"},
		{"registration_endpoint", "", "ok", "older ones need one that you have registered"},
		{"token_endpoint_auth_methods_supported", []string{"client_secret_basic"}, "note", "no public clients"},
		{"authorization_response_iss_parameter_supported", false, "note", "RFC 9207"},
		{"jwks_uri", "", "problem", "has no jwks_uri"},
		{"jwks_uri", oauthtest.URL + "/nothing", "problem", "status 404"},
	} {
		i := newCompleteIssuer()
		i.Metadata[tt.member] = tt.value
		if tt.member == "issuer" {
			i.Metadata["issuer"] = oauthtest.URL + "/" // the paths remain
		}
		findings, _ := oauth.CheckIssuer(t.Context(), i, oauthtest.URL)
		expectFinding(t, findings, tt.status, tt.text)
	}
	i := newCompleteIssuer()
	i.Metadata["registration_endpoint"], i.Metadata["client_id_metadata_document_supported"] = "", nil
	findings, _ = oauth.CheckIssuer(t.Context(), i, oauthtest.URL)
	expectFinding(t, findings, "note", "neither client id metadata documents nor dynamic registration")
	findings, _ = oauth.CheckIssuer(t.Context(), i, "http://login.example")
	expectFinding(t, findings, "problem", "https://")
	i.Down = true
	findings, _ = oauth.CheckIssuer(t.Context(), i, oauthtest.URL)
	expectFinding(t, findings, "problem", "connection refused")
}

// A handlerTransport serves requests by a handler, without a network.
type handlerTransport struct{ http.Handler }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestCheckResource(t *testing.T) {
	site := links.Site{Origin: "https://tools.example", Path: "/beam"}
	issuer := oauth.Metadata{Issuer: oauthtest.URL, Scopes: []string{"beam"}}
	const below, root = "/beam/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/beam/mcp"
	good := oauth.ResourceMetadata{Resource: resource, AuthorizationServers: []string{oauthtest.URL}, Scopes: []string{"beam"}}
	challenge := `Bearer resource_metadata="https://tools.example` + below + `"`
	for _, tt := range []struct {
		name         string
		change       func(served map[string]any) // what is served at paths: metadata, or a challenge
		status, text string
	}{
		{"all right", func(map[string]any) {}, "", ""},
		{"no metadata", func(s map[string]any) { delete(s, below) }, "problem", "status 404"},
		{"another URL", func(s map[string]any) {
			m := good
			m.Resource = "http://127.0.0.1:3008/mcp"
			s[below] = m
		}, "problem", `is about "http://127.0.0.1:3008/mcp", not "https://tools.example/beam/mcp"`},
		{"another issuer", func(s map[string]any) {
			m := good
			m.AuthorizationServers = []string{"https://other.example"}
			s[below] = m
		}, "problem", "sends clients to https://other.example, not to " + oauthtest.URL},
		{"a scope that the issuer doesn't have", func(s map[string]any) {
			m := good
			m.Scopes = []string{"tools"}
			s[below] = m
		}, "note", "requires the scope tools"},
		{"a proxy that forwards only the path", func(s map[string]any) { delete(s, root) }, "note", "status 404"},
		{"no challenge", func(s map[string]any) { s["/beam/mcp"] = "Bearer" }, "problem", "doesn't tell clients in WWW-Authenticate"},
		{"everyone is let in", func(s map[string]any) { s["/beam/mcp"] = "" }, "problem", "responds to a client without a token with status 200, not 401"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			served := map[string]any{below: good, root: good, "/beam/mcp": challenge}
			tt.change(served)
			beam := handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch v := served[r.URL.Path].(type) {
				case nil:
					http.NotFound(w, r)
				case string:
					if v != "" {
						w.Header().Set("WWW-Authenticate", v)
						w.WriteHeader(http.StatusUnauthorized)
					}
				default:
					json.NewEncoder(w).Encode(v)
				}
			})}
			findings := oauth.CheckResource(t.Context(), beam, site, issuer)
			if tt.status != "" {
				expectFinding(t, findings, tt.status, tt.text)
				return
			}
			expectFinding(t, findings, "ok", "tokens must have the aud "+resource)
			expectFinding(t, findings, "ok", "the same metadata is at https://tools.example"+root)
			expectFinding(t, findings, "ok", "sends clients without a token there")
		})
	}
	expectFinding(t, oauth.CheckResource(t.Context(), nil, links.Site{Path: "/beam"}, issuer), "problem", "no host")
}
