package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
)

// unchecked returns a schema that ParseSchema may refuse.
func unchecked(t *testing.T, raw string) *jsonschema.Schema {
	t.Helper()
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(raw), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func repeat(n int, format string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ",")
}

// A schema made to keep Beam busy becomes a form, or JSON, soon. Where a part is JSON, it
// says why.
func TestHostileSchemas(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 60) + `{"type":"string"}` + strings.Repeat(`}}`, 60)
	for _, tt := range []struct{ name, schema, want string }{
		{"a circle of references", `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#/$defs/c"},"c":{"allOf":[{"$ref":"#/$defs/b"}]}}}`, "refers to itself"},
		{"itself", `{"type":"object","$ref":"#"}`, "refers to itself"},
		{"what requires itself", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`, "nested too deep"},
		{"depth", deep, "nested too deep"},
		{"many properties", `{"type":"object","properties":{` + repeat(5000, `"p%d":{"type":"string"}`) + `}}`, "too many fields"},
		{"many choices in many fields", `{"type":"object","properties":{` + repeat(200, `"p%d":{"$ref":"#/$defs/e"}`) + `},"$defs":{"e":{"enum":[` + repeat(1999, `"v%d"`) + `]}}}`, "too many fields"},
		{"many variants", `{"type":"object","properties":{"a":{"oneOf":[` + repeat(500, `{"type":"object","properties":{"p%d":{}}}`) + `]}}}`, "too many variants"},
		{"required lists of required lists", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","minItems":10,"items":{"$ref":"#/$defs/l"}}}}`, "too many fields"},
		{"combinations that double", `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + repeat(40, `"d%[1]d":{"allOf":[{"$ref":"#/$defs/n%[1]d"},{"$ref":"#/$defs/n%[1]d"}]}`) + `,` + doublings(40) + `}}`, "refers to itself, or to too many"},
		{"conditions within conditions", conditions(10), ""},
		{"a pattern that backtracks", `{"type":"object","patternProperties":{"^(a+)+$":{"type":"string"},"(?=x)":{}},"properties":{"b":{"type":"string","pattern":"^(a|a)*$"}}}`, ""},
		{"types that can't be both", `{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"type":"object"}]}}}`, "can't show"},
		{"another document", `{"type":"object","properties":{"a":{"$ref":"https://example.org/schema"}}}`, "another document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, start := form.ForSchema(unchecked(t, tt.schema)), time.Now()
			value := `{"a":` + strings.Repeat(`{"a":`, 30) + `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"` + strings.Repeat(`}`, 31)
			for _, p := range []*form.Part{f.Defaults(), f.Fill([]byte(value)), f.Read(map[string][]string{"a/a/a": {"x"}, "~rows": {"1000000000"}, "a~rows": {"1000000000"}}, nil)} {
				if note := notes(p); !strings.Contains(note, tt.want) {
					t.Logf("the notes are %q", note)
				}
				if len(outline(p)) > 1<<20 {
					t.Error("the form is too large")
				}
			}
			if note := notes(f.Defaults()) + notes(f.Fill([]byte(value))); !strings.Contains(note, tt.want) {
				t.Errorf("the form says %q; want %q", note, tt.want)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// doublings returns definitions each of which refers to the one after it, by way of d.
func doublings(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"n%d":{"$ref":"#/$defs/d%d"}`, i, (i+1)%n)
	}
	return strings.Join(list, ",")
}

func conditions(depth int) string {
	s := `{"type":"string"}`
	for range depth {
		s = `{"type":"object","required":["a"],"properties":{"a":` + s + `},"if":{"required":["a"]},"then":{"properties":{"b":` + `{"type":"string"}` + `}}}`
	}
	return s
}

// notes returns what the parts that are JSON say.
func notes(p *form.Part) string {
	text := p.Note
	for _, part := range p.Parts {
		text += notes(part)
	}
	return text
}

// A photon whose schema Beam can't use has a form anyway, or says why it has none.
func TestFormOfAnUncheckedTool(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		parts        int
		note         string
	}{
		{"a pattern that Go doesn't have", `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"}}}`, 1, "can’t check"},
		{"too deep", strings.Repeat(`{"type":"object","properties":{"a":`, 200) + `{}` + strings.Repeat(`}}`, 200), 0, "too large or too deep"},
		{"too large", `{"type":"object","properties":{` + repeat(100_000, `"p%d":{}`) + `}}`, 0, "too large or too deep"},
		{"no schema", `{"type":"object","properties":7}`, 0, "isn’t one that Beam can read"},
	} {
		p := generators.FromSchema("p", schema(t, `{"type":"object"}`), nil, nil, &generators.Options{Definition: json.RawMessage(`{"name":"p","inputSchema":` + tt.schema + `}`)})
		f := form.ForPhoton(p).Defaults()
		if len(f.Parts) != tt.parts || !strings.Contains(f.Note, tt.note) {
			t.Errorf("%s: %d parts, and the note is %q", tt.name, len(f.Parts), f.Note)
		}
	}
}

// BenchmarkForm measures reading a posted form of 1,000 fields.
func BenchmarkForm(b *testing.B) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{`+repeat(1000, `"p%d":{"type":"string","title":"Field","description":"What it is for"}`)+`}}`), s); err != nil {
		b.Fatal(err)
	}
	f := form.ForSchema(s)
	values := posted(f.Defaults())
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Read(values, nil).Content()
	}
}
