package beam_test

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/photon-beam/beam"
)

// MCP clients present access tokens of the team's authorization server, also clients that
// are web pages. Browsers sign in with a token.
func ExampleConfig_oAuth() {
	b, err := beam.New(beam.Config{
		URL:   "https://tools.example/beam",
		Token: os.Getenv("BEAM_SERVE_TOKEN"),
		OAuth: beam.OAuth{
			Issuer:       "https://login.example",
			Scopes:       []string{"beam"},
			Roles:        "roles",
			ClientID:     "beam",
			ClientSecret: os.Getenv("BEAM_CLIENT_SECRET"),
		},
		AllowOrigins: []string{"https://client.example"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	if err := http.ListenAndServe("127.0.0.1:3008", b); err != nil {
		log.Print(err)
	}
}
