package connect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/connect"
)

// Connecting again keeps the flags of the entry that aren't set anew.
func TestKeepFlags(t *testing.T) {
	c := clientNamed(t, "cursor")
	file := filepath.Join(t.TempDir(), "mcp.json")
	withConfig := connect.Entry{Name: "beam", Command: "/opt/beam", Args: []string{"stdio", "--open", "--mcp-config", "/new.json"}}
	for _, test := range []struct {
		document string
		entry    connect.Entry
		want     string
	}{
		{`{"mcpServers":{"beam":{"command":"/old/beam","args":["stdio","--open","--mcp-config","/a b.json","--data=/d","--mcp-config","/b.json"]}}}`, beam, "stdio|--open|--mcp-config|/a b.json|--data=/d|--mcp-config|/b.json"},
		{`{"mcpServers":{"beam":{"command":"/old/beam","args":["stdio","--mcp-config=/a.json","--memory"]}}}`, withConfig, "stdio|--open|--mcp-config|/new.json|--memory"},
		{`{"mcpServers":{"beam":{"command":"/old/beam","args":["stdio",/* mine */"--memory",],},},}`, beam, "stdio|--open|--memory"},
		{`{"mcpServers":{"beam":{"command":"/other","args":["stdio","--data","/d"]}}}`, beam, "stdio|--open"},
		{`{"mcpServers":{"beam":{"command":"/old/beam","args":["serve","--data","/d"]}}}`, beam, "stdio|--open"},
		{`{"mcpServers":{"beam":{"command":"/old/beam"}}}`, beam, "stdio|--open"},
		{`{"mcpServers":{}}`, beam, "stdio|--open"}, {`[`, beam, "stdio|--open"}, {``, beam, "stdio|--open"},
	} {
		if err := os.WriteFile(file, []byte(test.document), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.KeepFlags(file, test.entry).Args, "|"); got != test.want {
			t.Errorf("%s: the arguments are %s, want %s", test.document, got, test.want)
		}
	}
	if !slices.Equal(beam.Args, []string{"stdio", "--open"}) {
		t.Errorf("the entry itself became %v", beam.Args)
	}
	if got := c.KeepFlags(file+".missing", beam).Args; len(got) != 2 {
		t.Errorf("without a file, the arguments are %v", got)
	}
}
