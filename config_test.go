package beam_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

func TestConfigIsChecked(t *testing.T) {
	broken := generators.New("no spaces", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, nil)
	addsTool := func(s *server.MCPServer) { s.AddTool(mcp.NewTool("other"), nil) }
	data := t.TempDir()
	newBeam(t, beam.Config{Data: data})
	for name, tt := range map[string]struct {
		config beam.Config
		want   string
	}{
		"a URL with a query":    {beam.Config{URL: "https://tools.example/?x=1"}, "Config.URL"},
		"a URL without a slash": {beam.Config{URL: "tools"}, "Config.URL"},
		"a URL of its own page": {beam.Config{URL: "/runs"}, "can't be served below /runs"},
		"a host with a scheme":  {beam.Config{Hosts: []string{"https://tools.example"}}, "Config.Hosts"},
		"a public URL":          {beam.Config{URL: "https://tools.example/"}, "Config.Identify or Config.Token"},
		"a URL with a password": {beam.Config{URL: "https://ada:hunter2@tools.example/"}, "Config.URL"},
		"a negative limit":      {beam.Config{Limits: beam.Limits{KeepFor: -1}}, "Config.Limits"},
		"a missing root":        {beam.Config{Root: filepath.Join(t.TempDir(), "gone")}, "Config.Root"},
		"an invalid photon":     {beam.Config{Photons: []*generators.Photon{broken}}, "no spaces"},
		"two of a name":         {beam.Config{Photons: []*generators.Photon{greet, greet}}, "greet"},
		"a tool of mcp-go":      {beam.Config{MCP: addsTool}, `"other"`},
		"two ways to sign in":   {beam.Config{Token: testToken, Identify: func(*http.Request) (beam.Caller, error) { return beam.Caller{ID: "ada"}, nil }}, "both Identify and Token"},
		"a short token":         {beam.Config{Token: "fifteen letters"}, "less than 16 bytes"},
		"a negative budget":     {beam.Config{Limits: beam.Limits{Working: beam.Budget{Each: -1}}}, "negative budget"},
		"a folder in use":       {beam.Config{Data: data}, "in use"},

		"an origin that is a URL":      {beam.Config{AllowOrigins: []string{"https://client.example/x"}}, "Config.AllowOrigins"},
		"no origin":                    {beam.Config{AllowOrigins: []string{"null"}}, "Config.AllowOrigins"},
		"all origins":                  {beam.Config{AllowOrigins: []string{"*"}}, "Config.AllowOrigins"},
		"an issuer without a URL":      {beam.Config{OAuth: beam.OAuth{Issuer: "https://login.example"}}, "Config.OAuth requires a URL"},
		"an issuer and a path":         {beam.Config{URL: "/beam", OAuth: beam.OAuth{Issuer: "https://login.example"}}, "Config.OAuth requires a URL"},
		"an issuer without TLS":        {beam.Config{URL: "http://localhost", OAuth: beam.OAuth{Issuer: "http://login.example"}}, "Config.OAuth: the URL of login.example must begin with https://"},
		"a scope that is two":          {beam.Config{URL: "http://localhost", OAuth: beam.OAuth{Issuer: "https://login.example", Scopes: []string{"a b"}}}, "Config.OAuth"},
		"a client id without a secret": {beam.Config{URL: "http://localhost", OAuth: beam.OAuth{Issuer: "https://login.example", ClientID: "x"}}, "Config.OAuth"},
		"scopes without an issuer":     {beam.Config{OAuth: beam.OAuth{Scopes: []string{"a"}}}, "Config.OAuth has no Issuer"},
	} {
		b, err := beam.New(tt.config)
		if err == nil {
			shutDown(t, b)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// testToken is a token that is long enough.
const testToken = "correct horse battery staple"
