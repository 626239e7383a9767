package beam_test

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/photon-beam/beam"
)

// The only MCP clients are the team's own, in whose chats people confirm what can't be
// undone. Calls wait for answers as long as they take.
func ExampleAskPolicy() {
	b, err := beam.New(beam.Config{
		Token: os.Getenv("BEAM_SERVE_TOKEN"),
		Asks:  beam.AskPolicy{AppsDestructive: true, Handoff: -1},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	if err := http.ListenAndServe("127.0.0.1:3008", b); err != nil {
		log.Print(err)
	}
}
