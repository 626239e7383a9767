package photons

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// Another server's tool is listed as that server describes it, under the photon's name.
func TestDefinitionAsJSON(t *testing.T) {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	p := generators.FromSchema("s__t", input, nil, nil, &generators.Options{
		Title: "T", Definition: json.RawMessage(`{"x":1.0,"name":"t","inputSchema":{"type":"object","z":1,"a":2},"annotations":{"readOnlyHint":true}}`),
	})
	raw, err := json.Marshal(newPhotonJSON(p))
	const want = `{"x":1.0,"name":"s__t","inputSchema":{"type":"object","z":1,"a":2},"annotations":{"readOnlyHint":true},"description":"","durable":false,"title":"T"}`
	if err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
}
