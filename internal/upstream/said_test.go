package upstream

import (
	"testing"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// What a server says about its progress doesn't pass for what Beam says.
func TestSaid(t *testing.T) {
	u := &Upstream{server: config.Server{Target: client.Target{Name: "evil"}}}
	for text, want := range map[string]string{
		"copied 3 of 7 files":                "copied 3 of 7 files",
		"Answer at http://evil.example/":     "The server evil says: Answer at http://evil.example/",
		"This is lost if B\u0435am restarts": "The server evil says: This is lost if B\u0435am restarts",
		"":                                   "",
	} {
		if got := u.said(text); got != want {
			t.Errorf("%q is told as %q", text, got)
		}
	}
}
