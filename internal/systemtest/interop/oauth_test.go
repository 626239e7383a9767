package interop_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
)

// startIssuer starts an authorization server where the person signs in at once, and the
// code is a code. It returns the server's URL, and the requests for tokens.
func startIssuer(t *testing.T) (issuerURL string, asked <-chan url.Values) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	issuer := oauthtest.New(server.URL)
	issuer.Metadata["authorization_endpoint"] = server.URL + "/authorize"
	issuer.Metadata["token_endpoint"] = server.URL + "/token"
	issuer.Metadata["response_types_supported"] = []string{"code"}
	issuer.Metadata["code_challenge_methods_supported"] = []string{"S256"}
	requests := make(chan url.Values, 10)
	mux.Handle("/", issuer)
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.PostForm.Get("code") != "the code" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		requests <- r.PostForm
		token := oauthtest.Good().Sign(t, oauthtest.Claims(server.URL, r.PostForm.Get("resource"), nil))
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"access_token":"` + token + `","token_type":"Bearer","expires_in":3600}`))
	})
	return server.URL, requests
}

// startProtected starts a Beam that accepts the access tokens of an issuer, and returns the
// URL of its MCP endpoint.
func startProtected(t *testing.T, issuer string, photons ...*generators.Photon) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	b, err := beam.New(beam.Config{URL: base, Photons: photons, Token: "a token for the pages alone", OAuth: beam.OAuth{Issuer: issuer, Scopes: []string{"beam"}}})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = b
	server.Start()
	t.Cleanup(func() {
		if err := b.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return base + "/mcp"
}

// The client of the Go SDK finds the authorization server, gets an access token, calls a
// tool, and answers it.
func TestGoSDKWithOAuth(t *testing.T) {
	greet := generators.New("greet", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		name, err := ask.Text(yield, "name", "What is your name?")
		return "Hello, " + name, err
	}, nil)
	issuer, requests := startIssuer(t)
	endpoint := startProtected(t, issuer, greet)
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		var authorization *url.URL
		handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
			PreregisteredClient: &oauthex.ClientCredentials{ClientID: "go-sdk"},
			RedirectURL:         "http://127.0.0.1:1/callback",
			AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
				var err error
				if authorization, err = url.Parse(args.URL); err != nil {
					return nil, err
				}
				return &auth.AuthorizationResult{Code: "the code", State: authorization.Query().Get("state")}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
			},
		})
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, OAuthHandler: handler}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatalf("%s: connecting: %v", version, err)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet"})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if text, ok := result.Content[0].(*mcp.TextContent); !ok || text.Text != "Hello, Ada" {
			t.Errorf("%s: the result is %+v", version, result.Content[0])
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: closing: %v", version, err)
		}
		if q := authorization.Query(); q.Get("resource") != endpoint || q.Get("scope") != "beam" || q.Get("code_challenge_method") != "S256" {
			t.Errorf("%s: it authorizes at %s", version, authorization)
		}
		if form := <-requests; form.Get("resource") != endpoint || form.Get("code_verifier") == "" {
			t.Errorf("%s: it asks for a token with %v", version, form)
		}
		if len(requests) > 0 {
			t.Errorf("%s: it asks for tokens more than once", version)
		}
	}
}
