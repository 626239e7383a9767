package beam_test

import (
	"context"
	"log"
	"net/http"

	"github.com/photon-beam/beam"
)

// A program lets tools ask the models that a file names, once a person has approved what
// is sent.
func ExampleConfig_models() {
	b, err := beam.New(beam.Config{Models: "models.json"})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	if err := http.ListenAndServe("127.0.0.1:3008", b); err != nil {
		log.Print(err)
	}
}
