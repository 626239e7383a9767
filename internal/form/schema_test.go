package form_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

func TestSchemasOfAForm(t *testing.T) {
	golden(t, "requested.json", form.RequestedSchema(allFields()))
	golden(t, "form.json", form.Schema(allFields()))
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

// checkSubset checks that a schema is within MCP's subset.
func checkSubset(t *testing.T, raw []byte) {
	t.Helper()
	var fields struct {
		Type       string
		Properties map[string]map[string]json.RawMessage
		Required   []string
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&fields); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for name, property := range fields.Properties {
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
			t.Errorf("property %q has both choices and lengths", name)
		}
	}
}

// A requested schema is within MCP's subset, and states the other rules in
// descriptions.
func TestRequestedSchemaIsInSubset(t *testing.T) {
	fields := allFields()
	raw := form.RequestedSchema(fields)
	checkSubset(t, raw)
	descriptions := map[string]string{
		"name":    "As on the badge.",
		"airport": "Where from. Must be three capital letters.",
		"code":    `Must match ^\d+$.`,
		"clock":   "A time of day, such as 18:30.",
		"day":     "Not before 2026-05-01. Not after 2026-05-31.",
		"at":      "When? Not before 2026-05-01T00:00:00Z.",
		"share":   "How much. Must be a multiple of 0.25.",
		"pick":    "",
	}
	for name, want := range descriptions {
		if got := schema(t, string(raw)).Document().Properties[name].Description; got != want {
			t.Errorf("%s is described as %q, want %q", name, got, want)
		}
	}
}

// Fields that aren't made by package ask may be incomplete.
func TestSchemaOfBareFields(t *testing.T) {
	fields := askdata.Fields{{Name: "clock", Type: "string", Format: askdata.FormatTime}}
	if _, err := fields.Check([]byte(`{"clock":"18:30:00Z"}`)); err == nil {
		t.Error("a time of day with seconds and zone is accepted")
	}
	if err := schema(t, string(form.Schema(fields))).Validate([]byte(`{"clock":"25:00"}`)); err == nil {
		t.Error("the schema accepts a time that doesn't exist")
	}
	if got := string(form.RequestedSchema(askdata.Fields(nil))); got != `{"type":"object","properties":{}}` {
		t.Errorf("a form without fields is %s", got)
	}
	twice := askdata.Fields{{Name: "a", Type: "string"}, {Name: "a", Type: "string"}}
	if err := twice.Validate(); err == nil || !strings.Contains(err.Error(), `field "a": another field has the same name`) {
		t.Errorf("two fields with the same name: %v", err)
	}
	for _, fields := range []askdata.Fields{{{Type: "string"}}, {{Name: "a"}}, {{Name: "a", Type: "object"}}, {{Name: "a", Type: "string", Pattern: "("}}} {
		if err := fields.Validate(); err == nil || !strings.Contains(err.Error(), "field ") {
			t.Errorf("%+v: %v", fields, err)
		}
	}
	if err := allFields().Validate(); err != nil {
		t.Error(err)
	}
}
