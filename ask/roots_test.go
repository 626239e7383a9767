package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

func TestRootsOfClientsAndPeople(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"of a client", `{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b%20c"}],"_meta":{"x":1}}`, `{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b%20c"}]}`},
		{"none at all", `{"roots":[]}`, `{"roots":[]}`},
		{"paths", `{"roots":"/home/ada/my project\n\n  file:///srv/x \r\n"}`, `{"roots":[{"uri":"file:///home/ada/my%20project"},{"uri":"file:///srv/x"}]}`},
		{"a path with signs of an address", `{"roots":"/a?b#c%d"}`, `{"roots":[{"uri":"file:///a%3Fb%23c%25d"}]}`},
		{"a drive", `{"roots":"C:\\Users\\Ada"}`, `{"roots":[{"uri":"file:///C:/Users/Ada"}]}`},
		{"a share", `{"roots":[{"uri":"file://server/share"}]}`, `{"roots":[{"uri":"file://server/share"}]}`},
	} {
		q := questionOf(t, ask.ForRoots("k"))
		a, err := q.Check(accepted(tt.content))
		if err != nil || string(a.Content) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, a.Content, err, tt.want)
			continue
		}
		if again, err := q.Check(a); err != nil || string(again.Content) != tt.want {
			t.Errorf("%s: checked again, it is %s, %v", tt.name, again.Content, err)
		}
	}
}

func TestInvalidRoots(t *testing.T) {
	many := `{"roots":[` + strings.TrimSuffix(strings.Repeat(`{"uri":"file:///a"},`, 1001), ",") + `]}`
	for content1, want := range map[string]map[string]string{
		``:                {"": "must be a single JSON value: unexpected end of JSON input"},
		`[]`:              {"": "must be an object, not a list"},
		`{}`:              {"/roots": "is required"},
		`{"roots":5}`:     {"/roots": "must be a list, not a number"},
		`{"roots":" "}`:   {"/roots": "is required"},
		`{"roots":"a/b"}`: {"/roots": `must be an absolute path or a file:// address, not "a/b"`},
		`{"roots":[5]}`:   {"/roots": "must be a list of objects with a uri and an optional name"},
		`{"roots":[{"uri":"file:///a"},{"uri":"https://example.org/a"},{"name":"x"}]}`: {
			"/roots/1": `must be an absolute path or a file:// address, not "https://example.org/a"`,
			"/roots/2": `must be an absolute path or a file:// address, not ""`},
		`{"roots":[{"uri":"file:relative"}]}`:                                       {"/roots/0": `must be an absolute path or a file:// address, not "file:relative"`},
		`{"roots":[{"uri":"file:///` + strings.Repeat("a", 5000) + `"}]}`:           {"/roots/0": "must have addresses of at most 4096 bytes"},
		`{"roots":[{"uri":"file:///a","name":"` + strings.Repeat("é", 501) + `"}]}`: {"/roots/0": "must have names of at most 500 characters"},
		many: {"/roots": "must be at most 1000; there are 1001"},
	} {
		_, err := questionOf(t, ask.ForRoots("k")).Check(accepted(content1))
		messages := fieldErrors(t, err)
		for path, message := range want {
			if messages[path] != message {
				t.Errorf("%.60s: %q, want %q", content1, messages, want)
			}
		}
	}
}

// Any content that FuzzRoots finds to be accepted must be a list of file addresses,
// which is unchanged when it is checked again.
func FuzzRoots(f *testing.F) {
	f.Add(`{"roots":"/a\nC:\\b"}`)
	f.Add(`{"roots":[{"uri":"file:///a","name":"\ud800"}]}`)
	q := &askdata.Question{Kind: askdata.KindRoots, Fields: askdata.Fields{{Name: "roots", Type: "string", Format: askdata.FormatLong}}}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := q.Check(accepted(raw))
		if err != nil {
			return
		}
		var list struct{ Roots []ask.Root }
		if err := json.Unmarshal(a.Content, &list); err != nil || list.Roots == nil {
			t.Fatalf("%q became %s (%v)", raw, a.Content, err)
		}
		for _, r := range list.Roots {
			if !strings.HasPrefix(r.URI, "file://") {
				t.Fatalf("%q has the root %q", raw, r.URI)
			}
		}
		if again, err := q.Check(a); err != nil || string(again.Content) != string(a.Content) {
			t.Fatalf("%s became %s (%v)", a.Content, again.Content, err)
		}
	})
}
