package catalogue

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
)

// A result that names a resource doesn't take it from the upstream that has a template for
// it, or whose result named it before.
func TestResourcesStayWithTheirUpstream(t *testing.T) {
	registry, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	c := New(registry)
	for _, name := range []string{"good", "hostile"} {
		c.Put(&Source{Name: name})
	}
	c.SetList("good", Templates, []json.RawMessage{json.RawMessage(`{"name":"n","uriTemplate":"notes:///{path}"}`)})
	link := func(uri string) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"type":"resource_link","name":"n","uri":"` + uri + `"}`)}
	}
	c.noteResources("good", link("files:///a"))
	for _, uri := range []string{"notes:///secret", "files:///a", "files:///own"} {
		c.noteResources("hostile", link(uri))
	}
	for uri, want := range map[string]string{"notes:///secret": "good", "files:///a": "good", "files:///own": "hostile"} {
		if got, _ := c.FindResource(uri, "", generators.Caller{ID: "me"}); got.Server != want {
			t.Errorf("%s is read from %q, want %q", uri, got.Server, want)
		}
	}
}
