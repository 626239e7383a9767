package beam_test

import (
	"context"
	"log"
	"net/http"

	"github.com/photon-beam/beam"
)

// A program offers the tools of other MCP servers beside its own. The file is the one
// that an MCP client already has.
func ExampleConfig_upstreams() {
	b, err := beam.New(beam.Config{Upstreams: []string{".mcp.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	if err := http.ListenAndServe("127.0.0.1:3008", b); err != nil {
		log.Print(err)
	}
}
