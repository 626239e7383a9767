package connect_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/connect"
)

var beam = connect.Entry{Name: "beam", Command: "/opt/beam", Args: []string{"stdio", "--open"}}

func clientNamed(t *testing.T, name string) connect.Client {
	t.Helper()
	c, err := connect.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddTo(t *testing.T) {
	for _, test := range []struct{ name, client, before, after string }{
		{"no file", "cursor", "", "{\n  \"mcpServers\": {\n    \"beam\": {\n      \"command\": \"/opt/beam\",\n      \"args\": [\"stdio\",\"--open\"]\n    }\n  }\n}\n"},
		{"a client that wants a type", "vscode", "{}", "{\n  \"servers\": {\n    \"beam\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/beam\",\n      \"args\": [\"stdio\",\"--open\"]\n    }\n  }\n}"},
		{
			"others stay as they are", "cursor",
			"{\n\t\"theme\" :  1e2,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\":\"x\",   \"y\": [ ]}\n\t}, \"last\": \"<é>\"\n}\n",
			"{\n\t\"theme\" :  1e2,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\":\"x\",   \"y\": [ ]},\n\t\t\"beam\": {\n\t\t\t\"command\": \"/opt/beam\",\n\t\t\t\"args\": [\"stdio\",\"--open\"]\n\t\t}\n\t}, \"last\": \"<é>\"\n}\n",
		},
		{
			"an earlier entry is updated, its other members kept", "cursor",
			`{"mcpServers":{"beam":{"env":{"A":"b"},"command":"/old/beam","args":["stdio"],"disabled":true}}}`,
			`{"mcpServers":{"beam":{"env":{"A":"b"},"command":"/opt/beam","args":["stdio","--open"],"disabled":true}}}`,
		},
		{
			"the same entry", "cursor",
			`{"mcpServers":{"beam":{"args":[ "stdio", "--open" ],"command":"/opt/beam"}}}`,
			`{"mcpServers":{"beam":{"args":[ "stdio", "--open" ],"command":"/opt/beam"}}}`,
		},
		{
			"of a name that comes twice, the last counts", "cursor",
			`{"mcpServers":{"beam":{"command":"/a/beam","args":["stdio","--open"]}},"mcpServers":{"beam":{"command":"/b/beam","args":["stdio","--open"]}}}`,
			`{"mcpServers":{"beam":{"command":"/a/beam","args":["stdio","--open"]}},"mcpServers":{"beam":{"command":"/opt/beam","args":["stdio","--open"]}}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := clientNamed(t, test.client)
			edited, changed, err := c.AddTo([]byte(test.before), beam)
			if err != nil || string(edited) != test.after || changed != (test.before != test.after) {
				t.Fatalf("got %v (%v)\n%s, want\n%s", changed, err, edited, test.after)
			}
			again, changed, err := c.AddTo(edited, beam)
			if err != nil || changed || string(again) != string(edited) {
				t.Errorf("the second time it became\n%s (%v)", again, err)
			}
		})
	}
}

func TestAddToRefuses(t *testing.T) {
	for document, want := range map[string]string{
		"{\n  // a comment\n}":        "line 2",
		`{"mcpServers":{},}`:          "isn't plain JSON",
		`{"mcpServers":`:              "isn't plain JSON",
		`[]`:                          "isn't a JSON object",
		`{"mcpServers":[]}`:           `"mcpServers" isn't an object`,
		`{"mcpServers":{"beam":"x"}}`: `"beam" isn't an object`,
		`{"mcpServers":{"beam":{"url":"http://x"}}}`:                            "not this program",
		`{"mcpServers":{"beam":{"command":"/usr/bin/other","args":["stdio"]}}}`: "choose another name",
	} {
		if _, _, err := clientNamed(t, "cursor").AddTo([]byte(document), beam); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %s the error is %v, want %q in it", document, err, want)
		}
	}
}

// Whatever else a file contains, the entry is added to it, once, and nothing is lost.
func FuzzAddTo(f *testing.F) {
	for _, document := range []string{"", "{}", `{"mcpServers":{}}`, "{\n\t\"a\": {\"mcpServers\": 1},\n\t\"mcpServers\": {\"x\": {}}}", `{"mcpServers":{"beam":{}}}`} {
		f.Add([]byte(document))
	}
	c, err := connect.Find("cursor")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		edited, _, err := c.AddTo(document, beam)
		if err != nil {
			return
		}
		if again, changed, err := c.AddTo(edited, beam); err != nil || changed {
			t.Errorf("%q became %q, and then %q (%v)", document, edited, again, err)
		}
	})
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "link.json")
	if err := errors.Join(os.WriteFile(target, []byte("{}"), 0o640), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	c := clientNamed(t, "claude-code")
	if changed, err := c.Write(link, beam); err != nil || !changed {
		t.Fatal(changed, err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link became %v (%v)", info.Mode(), err)
	}
	if info, err = os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode became %v (%v)", info.Mode(), err)
	}
	if changed, err := c.Write(link, beam); err != nil || changed {
		t.Errorf("the second time, Write returned %v, %v", changed, err)
	}
	created := filepath.Join(dir, "new", "mcp.json")
	if _, err := c.Write(created, beam); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(created); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new file's mode is %v (%v), want 0600", info.Mode(), err)
	}
}
