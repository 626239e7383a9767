package connect_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
		"{\n  // a comment\n":         "line 3",
		`{"mcpServers":{},,}`:         "isn't JSON: line 1, column 18",
		`{"mcpServers":`:              "isn't JSON",
		`{} /* open`:                  "isn't JSON",
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

func TestAddToKeepsComments(t *testing.T) {
	before := "// mine\n{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // the other\n  }, /* last */\n}"
	want := "// mine\n{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}, // the other\n    \"beam\": {\n      \"command\": \"/opt/beam\",\n      \"args\": [\"stdio\",\"--open\"]\n    }\n  }, /* last */\n}"
	if edited, changed, err := clientNamed(t, "cursor").AddTo([]byte(before), beam); err != nil || !changed || string(edited) != want {
		t.Errorf("got (%v)\n%s, want\n%s", err, edited, want)
	}
}

// What AddTo has added, RemoveFrom removes to the byte.
func TestRoundTrip(t *testing.T) {
	for _, document := range []string{
		"{}", "{}\n", "\ufeff{}\r\n", "// none yet\n{} // end",
		"{\n  // nothing yet\n}\n", "{ /* nothing yet */ }",
		`{"mcpServers":{}}`, "{\n  \"mcpServers\": {}\n}", "{\"mcpServers\": { }}", "{\n  \"mcpServers\": {\n    // none\n  }\n}", "{\"mcpServers\": {/* none */}}",
		`{"mcpServers":{},"theme":1}`, `{"mcpServers":{},}`, "{\"theme\": 1,}", "{\n\t\"theme\": 1,\n}\n", "{\"theme\": 1 /* dark */}", "{\"theme\": 1 // dark\n}",
		`{"mcpServers": {"x": {"command": "x"}}}`, `{"mcpServers": {"x": {"command": "x"} }}`, `{"mcpServers": {"x": {"command": "x"},}}`,
		"{\n  \"mcpServers\": {\n    \"x\": {}, // first\n    /* second */ \"y\": {} // with no comma\n    // last\n  }\n}\n",
		"{\n  \"mcpServers\": {\n    \"x\": {}, // with a comma\n    // last\n  },\n  \"theme\": 1,\n}\n",
		"{\n  \"mcpServers\": {\n    \"x\": {} // the comma follows\n    ,  \n  },\n}",
		"\ufeff// mine\r\n{\r\n    // servers\r\n    \"mcpServers\": {\r\n        \"x\": {} // first\r\n    }\r\n}\r\n",
		"{\"url\": \"http://x/*y*/\", \"mcpServers\": {\"//\": {\"command\": \"},\"}}}",
	} {
		for _, client := range []string{"cursor", "claude-code"} {
			c := clientNamed(t, client)
			edited, changed, err := c.AddTo([]byte(document), beam)
			if err != nil || !changed {
				t.Errorf("%q: AddTo returned %v, %v", document, changed, err)
				continue
			}
			if strings.Contains(document, "\r\n") && strings.Count(string(edited), "\n") != strings.Count(string(edited), "\r\n") {
				t.Errorf("%q: the lines end otherwise in %q", document, edited)
			}
			if again, changed, err := c.AddTo(edited, beam); err != nil || changed {
				t.Errorf("%q: the second time it became %q (%v)", document, again, err)
			}
			if undone, removed, err := c.RemoveFrom(edited, beam); err != nil || !removed || string(undone) != document {
				t.Errorf("%q became\n%s\nand then %q (%v, %v)", document, edited, undone, removed, err)
			}
		}
	}
}

func TestRemoveFrom(t *testing.T) {
	const entry = `"beam": {"command": "/old/beam.exe", /* mine */ "env": {},}`
	for _, test := range []struct{ before, after string }{
		{`{"mcpServers": {` + entry + `, "x": {}}}`, `{"mcpServers": {"x": {}}}`},
		{`{"mcpServers": {"x": {}, ` + entry + `, "y": {}}}`, `{"mcpServers": {"x": {}, "y": {}}}`},
		{`{"mcpServers": {"x": {}, ` + entry + `}}`, `{"mcpServers": {"x": {}}}`},
		{`{"mcpServers": {"x": {}, ` + entry + `,}}`, `{"mcpServers": {"x": {},}}`},
		{"{\n\t\"mcpServers\": {\n\t\t" + entry + ",\n\t\t\"x\": {}\n\t}\n}", "{\n\t\"mcpServers\": {\n\t\t\"x\": {}\n\t}\n}"},
		{"{\"mcpServers\": {\n  // above\n  " + entry + ", // beside\n  // below\n  \"x\": {}\n}}", "{\"mcpServers\": {\n  // above\n  // beside\n  // below\n  \"x\": {}\n}}"},
		{"{\"mcpServers\": {\n  \"x\": {}, // x's\n  " + entry + "}}", "{\"mcpServers\": {\n  \"x\": {} // x's\n  }}"},
		{"{\"mcpServers\": {\n  \"x\": {},\n  " + entry + " // beside\n}}", "{\"mcpServers\": {\n  \"x\": {}\n  // beside\n}}"},
		{"{\"mcpServers\": {\n  // above\n  " + entry + ", \"x\": {}}}", "{\"mcpServers\": {\n  // above\n  \"x\": {}}}"},
		{"{\"mcpServers\": {\n  // mine\n  " + entry + "\n}}", "{\"mcpServers\": {\n  // mine\n}}"},
		{"{\"mcpServers\": {\n  " + entry + "\n}, \"theme\": 1}", "{\"mcpServers\": {\n}, \"theme\": 1}"},
		{`{"mcpServers": {"x": {}}}`, `{"mcpServers": {"x": {}}}`},
		{`{"mcpServers": []}`, `{"mcpServers": []}`}, {`{}`, `{}`}, {``, ``}, {"\ufeff\n", "\ufeff\n"},
	} {
		got, removed, err := clientNamed(t, "cursor").RemoveFrom([]byte(test.before), beam)
		if err != nil || string(got) != test.after || removed != (test.before != test.after) {
			t.Errorf("%q became %q (%v, %v), want %q", test.before, got, removed, err, test.after)
		}
	}
	for document, want := range map[string]string{
		`{"mcpServers": {"beam": {"command": "beamer"}}}`:         "not this program",
		`{"mcpServers": {"beam": {"url": "http://127.0.0.1"}}}`:   "not this program",
		`{"mcpServers": {"beam": "x"}}`:                           "not this program",
		`{"mcpServers": {"beam": {"command": "/opt/beam"}}`:       "isn't JSON",
		"{\n  \"mcpServers\": {\"beam\": {\"command\": 'beam'}}}": "line 2, column 38",
		`[]`: "isn't a JSON object",
	} {
		if got, removed, err := clientNamed(t, "cursor").RemoveFrom([]byte(document), beam); err == nil || removed || !strings.Contains(err.Error(), want) {
			t.Errorf("for %s RemoveFrom returned %q, %v, %v, want %q", document, got, removed, err, want)
		}
	}
}

// An empty object with white space in it isn't restored to the byte.
var blankObject = regexp.MustCompile(`\{\s+\}`)

// Whatever else a file contains, the entry is added to it, once, and nothing is lost: the
// file is as before when the entry is removed.
func FuzzAddTo(f *testing.F) {
	for _, document := range []string{"", "{}", `{"mcpServers":{}}`, "{\n\t\"a\": {\"mcpServers\": 1},\n\t\"mcpServers\": {\"x\": {}}}", `{"mcpServers":{"beam":{}}}`, "{ // c\n\"mcpServers\": {\"x\": 1 /* c */,\r\n},}"} {
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
		undone, removed, err := c.RemoveFrom(edited, beam)
		if err != nil || !removed {
			t.Errorf("%q became %q, from which nothing was removed (%v)", document, edited, err)
		}
		if !bytes.Contains(document, []byte("{")) || bytes.Contains(document, []byte(`b`)) || bytes.Contains(document, []byte(`\u`)) || blankObject.Match(document) {
			return // there was no object, or perhaps an entry of that name
		}
		if !bytes.Equal(undone, document) {
			t.Errorf("%q became %q, and without the entry %q", document, edited, undone)
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
	for _, want := range []bool{true, false} {
		if removed, err := c.Remove(link, beam); err != nil || removed != want {
			t.Errorf("Remove returned %v, %v, want %v", removed, err, want)
		}
	}
	text, err := os.ReadFile(link)
	if err != nil || string(text) != "{}" {
		t.Errorf("the file became %q (%v)", text, err)
	}
	if info, err = os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link became %v (%v)", info.Mode(), err)
	}
	if info, err = os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode became %v (%v)", info.Mode(), err)
	}
	missing := filepath.Join(dir, "missing", "mcp.json")
	if removed, err := c.Remove(missing, beam); err != nil || removed {
		t.Errorf("without a file, Remove returned %v, %v", removed, err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove made the folder of a file that isn't there (%v)", err)
	}
	created := filepath.Join(dir, "new", "mcp.json")
	if _, err := c.Write(created, beam); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(created); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new file's mode is %v (%v), want 0600", info.Mode(), err)
	}
}
