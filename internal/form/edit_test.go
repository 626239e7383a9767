package form_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/form"
)

const editable = `{"type":"object","required":["l"],"properties":{
  "l":{"type":"array","title":"Servers","maxItems":3,"items":{"type":"object","required":["host"],"properties":{"host":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}},
  "o":{"type":"object","title":"Limits","properties":{"cpu":{"type":"number","default":2}}},
  "m":{"type":"object","title":"Labels","additionalProperties":{"type":"string"}},
  "t":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false},
  "n":{"$ref":"#/$defs/n"}},
  "$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`

// Rows and optional parts are added, moved and removed; the values of others stay.
func TestEdit(t *testing.T) {
	f := form.ForSchema(schema(t, editable).Document())
	p := f.Fill([]byte(`{"l":[{"host":"a","tags":["x","y"]},{"host":"b"}]}`))
	steps := []struct {
		action, input, button, said, want string
	}{
		{"add l", "l/2", "", "Server 3 added", `{"l":[{"host":"a","tags":["x","y"]},{"host":"b"},{}]}`},
		{"down l/0", "l/1", "down", "Moved to position 2 of 3", `{"l":[{"host":"b"},{"host":"a","tags":["x","y"]},{}]}`},
		{"up l/1/tags/1", "l/1/tags/0", "down", "Moved to position 1 of 2", `{"l":[{"host":"b"},{"host":"a","tags":["y","x"]},{}]}`},
		{"remove l/0", "l/0", "remove", "Server 1 removed", `{"l":[{"host":"a","tags":["y","x"]},{}]}`},
		{"remove l/1", "l/0", "remove", "Server 2 removed", `{"l":[{"host":"a","tags":["y","x"]}]}`},
		{"remove l/0", "l", "add", "Server 1 removed", `{"l":[]}`},
		{"add o", "o", "", "Limits added", `{"l":[],"o":{"cpu":2}}`},
		{"remove o", "o", "add", "Limits removed", `{"l":[]}`},
		{"add m", "m~v0", "", "Label added", `{"l":[],"m":{"":""}}`},
		{"remove m~v0", "m", "add", "Label removed", `{"l":[]}`},
		{"add t", "t/0", "", "t 1 added", `{"l":[],"t":[null,null]}`},
		{"add n", "n", "", "n added", `{"l":[],"t":[null,null],"n":{}}`},
		{"add n/next", "n/next", "", "next added", `{"l":[],"t":[null,null],"n":{"next":{}}}`},
	}
	for _, s := range steps {
		focus, said, err := p.Edit(s.action)
		if err != nil || focus != (form.Focus{Input: s.input, Button: s.button}) || said != s.said {
			t.Errorf("%s: focus %+v, %q, %v", s.action, focus, said, err)
		}
		if got := string(p.Content()); got != s.want {
			t.Fatalf("%s: %s, want %s", s.action, got, s.want)
		}
		p = f.Read(posted(p), nil) // as the next request has it
		if got := string(p.Content()); got != s.want {
			t.Fatalf("%s, posted: %s, want %s\n%s", s.action, got, s.want, outline(p))
		}
	}
	for _, action := range []string{"", "add", "add x", "add l/9", "remove", "remove l", "remove t/0", "up l", "down t/0", "remove  ", "explode l", "up t/1"} {
		if _, _, err := p.Edit(action); err == nil {
			t.Errorf("%q changed the form to %s", action, p.Content())
		}
	}
}

// What is typed stays, whatever happens around it: text that isn't a number, JSON that
// isn't any, and rows with the same name.
func TestTypedTextStays(t *testing.T) {
	f := form.ForSchema(schema(t, `{"type":"object","properties":{"n":{"type":"number"},"j":{"type":"object"},"m":{"type":"object","additionalProperties":{"type":"string"}},"l":{"type":"array","items":{"type":"string"}}}}`).Document())
	values := map[string][]string{"n": {"many"}, "j~json": {"{oops"}, "m~rows": {"2"}, "m~k0": {"a"}, "m~v0": {"1"}, "m~k1": {"a"}, "m~v1": {"2"}, "l~rows": {"1"}, "l/0": {"x"}}
	p := f.Read(values, nil)
	if _, _, err := p.Edit("add l"); err != nil {
		t.Fatal(err)
	}
	again := posted(p)
	for name, want := range values {
		if got := again[name]; name != "l~rows" && strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	problems := p.Problems()
	if len(problems) != 2 || problems[0].Path != "/j" || !strings.Contains(problems[0].Message, "must be JSON; line 1") || problems[1].Path != "/m/a" {
		t.Errorf("the problems are %v", problems)
	}
	if got := string(p.Content()); !strings.Contains(got, `"n":"many"`) || !strings.Contains(got, `"j":"{oops"`) {
		t.Errorf("the content is %s", got)
	}
}

// A link fills in fields as a form does, or a part that has parts as JSON.
func TestLink(t *testing.T) {
	f := form.ForSchema(schema(t, editable).Document())
	for _, tt := range []struct {
		query map[string][]string
		want  string
	}{
		{nil, `{"l":[]}`},
		{map[string][]string{"l": {`[{"host":"a"}]`}, "o": {`{"cpu":1}`}}, `{"l":[{"host":"a"}],"o":{"cpu":1}}`},
		{map[string][]string{"o/cpu": {"3"}, "m": {`{"a":"b"}`}}, `{"l":[],"o":{"cpu":3},"m":{"a":"b"}}`},
		{map[string][]string{"l": {"a", "b"}}, `{"l":["a","b"]}`},
		{map[string][]string{"o": {"text"}, "other": {"x"}}, `{"l":[],"o":"text"}`},
	} {
		if got := string(f.Link(tt.query).Content()); got != tt.want {
			t.Errorf("%v became %s, want %s", tt.query, got, tt.want)
		}
	}
}

// Errors have the line of their value in the JSON.
func TestLines(t *testing.T) {
	text := "{\n  \"a\": {\n    \"b\": [\n      1,\n      {\"c/d\": 2}\n    ]\n  }\n}"
	got := form.Lines(text, []string{"", "/a", "/a/b", "/a/b/0", "/a/b/1/c~1d", "/a/none", "/x", "/a/b/9/z"})
	for pointer, want := range map[string]int{"": 1, "/a": 2, "/a/b": 3, "/a/b/0": 4, "/a/b/1/c~1d": 5, "/a/none": 2, "/x": 1, "/a/b/9/z": 3} {
		if got[pointer] != want {
			t.Errorf("%q is in line %d, want %d", pointer, got[pointer], want)
		}
	}
	if got := form.Lines("{oops", []string{"/a"}); got["/a"] != 1 {
		t.Errorf("in invalid JSON: %v", got)
	}
}

// What is typed hidden isn't in the JSON that is shown, and is added to it when it is sent.
func TestSecrets(t *testing.T) {
	f := form.ForSchema(schema(t, `{"type":"object","required":["p"],"properties":{"p":{"type":"string","format":"password"},"n":{"type":"string"}}}`).Document())
	typed := map[string][]string{"p": {"hunter2"}, "n": {"a"}}
	p := f.Read(typed, nil)
	if shown, sent := string(p.WithoutSecrets()), string(p.Content()); shown != `{"n":"a"}` || sent != `{"p":"hunter2","n":"a"}` || !p.HasSecrets() {
		t.Errorf("%s is shown, and %s sent", shown, sent)
	}
	p = f.Fill([]byte(`{"n":"b"}`))
	if added := p.AddSecrets(typed); !added || string(p.Content()) != `{"p":"hunter2","n":"b"}` {
		t.Errorf("with the secret: %s", p.Content())
	}
	p = f.Fill([]byte(`{"p":"own","n":"b"}`))
	if added := p.AddSecrets(typed); added || string(p.Content()) != `{"p":"own","n":"b"}` {
		t.Errorf("with another secret: %s", p.Content())
	}
}
