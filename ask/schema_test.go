package ask_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file of testdata.
func golden(t *testing.T, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", name, b.Bytes())
	}
}

// allFields is a form with every rule that there is.
func allFields() ask.Fields {
	zero, ten, quarter := 0.0, 10.0, 0.25
	return ask.Fields{
		{Name: "name", Type: "string", Title: "Your name", Description: "As on the badge.", Required: true, MinLength: 1, MaxLength: 40, Default: json.RawMessage(`"Ada"`)},
		{Name: "airport", Type: "string", Description: "Where from.", Pattern: "^[A-Z]{3}$", PatternHint: "must be three capital letters"},
		{Name: "code", Type: "string", Pattern: `^\d+$`},
		{Name: "mail", Type: "string", Format: "email"},
		{Name: "site", Type: "string", Format: "uri"},
		{Name: "notes", Type: "string", Format: ask.FormatLong},
		{Name: "secret", Type: "string", Format: ask.FormatSecret},
		{Name: "clock", Type: "string", Format: ask.FormatTime, Pattern: ask.TimePattern},
		{Name: "day", Type: "string", Format: "date", Earliest: "2026-05-01", Latest: "2026-05-31"},
		{Name: "at", Type: "string", Format: "date-time", Description: "When?", Earliest: "2026-05-01T00:00:00Z"},
		{Name: "share", Type: "number", Minimum: &zero, Maximum: &ten, Step: &quarter, Description: "How much"},
		{Name: "count", Type: "integer", Minimum: &zero},
		{Name: "sure", Type: "boolean", Default: json.RawMessage("true")},
		{Name: "pick", Type: "string", Choices: ask.Choices("a", "b"), MaxLength: 1, Pattern: "^a"},
		{Name: "titled", Type: "string", Required: true, Choices: []ask.Choice{{Value: "d", Title: "Development"}, {Value: "p"}}},
		{Name: "many", Type: "array", Choices: ask.Choices("a", "b", "c"), MinItems: 1, MaxItems: 2},
		{Name: "titles", Type: "array", Choices: []ask.Choice{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}}, Default: json.RawMessage(`["g"]`)},
	}
}

func TestSchemasOfAForm(t *testing.T) {
	golden(t, "requested.json", allFields().RequestedSchema())
	golden(t, "form.json", allFields().Schema())
}

// keywords20251125 is what MCP allows in elicitation/create, by type
// (specification 2025-11-25, PrimitiveSchemaDefinition).
var keywords20251125 = map[string][]string{
	"string":  {"type", "title", "description", "minLength", "maxLength", "format", "default", "enum", "oneOf"},
	"number":  {"type", "title", "description", "minimum", "maximum", "default"},
	"integer": {"type", "title", "description", "minimum", "maximum", "default"},
	"boolean": {"type", "title", "description", "default"},
	"array":   {"type", "title", "description", "minItems", "maxItems", "items", "default"},
}

// checkSubset reports what is outside of MCP's subset.
func checkSubset(t *testing.T, raw []byte) {
	t.Helper()
	var form struct {
		Type       string
		Properties map[string]map[string]json.RawMessage
		Required   []string
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for name, property := range form.Properties {
		kind := strings.Trim(string(property["type"]), `"`)
		for keyword, value := range property {
			if !slices.Contains(keywords20251125[kind], keyword) {
				t.Errorf("property %q (%s) has the keyword %s, which is not in the subset", name, kind, keyword)
			}
			if keyword == "format" && !slices.Contains([]string{`"email"`, `"uri"`, `"date"`, `"date-time"`}, string(value)) {
				t.Errorf("property %q has the format %s", name, value)
			}
		}
		if property["enum"] != nil && property["minLength"] != nil {
			t.Errorf("property %q has choices and lengths", name)
		}
	}
}

// TestRequestedSchemaIsMCPs, and states in words what the subset can't hold.
func TestRequestedSchemaIsMCPs(t *testing.T) {
	form := allFields()
	raw := form.RequestedSchema()
	checkSubset(t, raw)
	said := map[string]string{
		"name":    "As on the badge.",
		"airport": "Where from. Must be three capital letters.",
		"code":    `Must match ^\d+$.`,
		"clock":   "A time of day, such as 18:30.",
		"day":     "Not before 2026-05-01. Not after 2026-05-31.",
		"at":      "When? Not before 2026-05-01T00:00:00Z.",
		"share":   "How much. Must be a multiple of 0.25.",
		"pick":    "",
	}
	for name, want := range said {
		if got := schema(t, string(raw)).Document().Properties[name].Description; got != want {
			t.Errorf("%s is described as %q, want %q", name, got, want)
		}
	}
}

// TestSchemaOfBareFields: a field made by hand may lack what belongs together.
func TestSchemaOfBareFields(t *testing.T) {
	form := ask.Fields{{Name: "clock", Type: "string", Format: ask.FormatTime}}
	if _, err := form.Check([]byte(`{"clock":"18:30:00Z"}`)); err == nil {
		t.Error("a time of day with seconds and zone is accepted")
	}
	if err := schema(t, string(form.Schema())).Validate([]byte(`{"clock":"25:00"}`)); err == nil {
		t.Error("the schema accepts a time that there is not")
	}
	if got := string(ask.Fields(nil).RequestedSchema()); got != `{"type":"object","properties":{}}` {
		t.Errorf("a form without fields is %s", got)
	}
	twice := ask.Fields{{Name: "a", Type: "string"}, {Name: "a", Type: "string"}}
	if err := twice.Validate(); err == nil || !strings.Contains(err.Error(), `field "a": another one has the same name`) {
		t.Errorf("two fields of one name: %v", err)
	}
	for _, form := range []ask.Fields{{{Type: "string"}}, {{Name: "a"}}, {{Name: "a", Type: "object"}}, {{Name: "a", Type: "string", Pattern: "("}}} {
		if err := form.Validate(); err == nil || !strings.Contains(err.Error(), "field ") {
			t.Errorf("%+v: %v", form, err)
		}
	}
	if err := allFields().Validate(); err != nil {
		t.Error(err)
	}
}
