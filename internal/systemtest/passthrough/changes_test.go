package passthrough_test

import (
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Clients are told when the tools of an upstream change, and the resources that they have
// subscribed to.
func TestChangesReachClients(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		for _, o := range map[string][]clientOptions{
			v20251125: {{version: v20251125, stdio: true}, {version: v20251125, path: "/mcp/u/test"}}, v20260728: {{version: v20251125}},
		}[up] {
			p := &person{}
			s := g.connect(t, o, p)
			prefix := "test__"
			if o.path != "" {
				prefix = ""
			}
			listed := func() bool {
				r, err := s.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				return slices.ContainsFunc(r.Tools, func(tool *mcp.Tool) bool { return tool.Name == prefix+"added" })
			}
			before := listed()
			call(t, s, prefix+"change_tools", nil)
			p.awaitEvent(t, "tools changed")
			if listed() == before {
				t.Errorf("%s to %+v: the list is as before", up, o)
			}
			if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test://changing"}); err != nil {
				t.Fatal(err)
			}
			call(t, s, prefix+"change_resource", nil)
			p.awaitEvent(t, "updated test://changing")
		}
	}
}

// awaitEvent waits for an event.
func (p *person) awaitEvent(t *testing.T, event string) {
	t.Helper()
	hasCome := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.events, event)
	}
	if !programtest.Poll(hasCome) {
		t.Fatalf("%q doesn't come", event)
	}
}
