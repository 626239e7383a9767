package form_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/form"
)

// TestFromInputSchema checks that every property of an input schema has a field.
func TestFromInputSchema(t *testing.T) {
	s := schema(t, `{"type":"object","required":["id","filter"],"dependentRequired":{"id":["n"]},"properties":{
	  "id":     {"type":"string","format":"uuid","title":"Id","minLength":36},
	  "clock":  {"type":"string","format":"time"},
	  "filter": {"type":"object","description":"What to find.","properties":{"a":{"type":"string"}},"default":{"a":"b"}},
	  "tags":   {"type":"array","items":{"type":"string"},"minItems":1},
	  "level":  {"type":"integer","enum":[1,2]},
	  "n":      {"type":["integer","null"],"minimum":3},
	  "any":    {}}}`)
	got, err := form.FromInputSchema(s.Document())
	want := ask.Fields{
		{Name: "id", Type: "string", Title: "Id", MinLength: 36, Required: true},
		{Name: "clock", Type: "string"},
		{Name: "filter", Description: "What to find.", Default: json.RawMessage(`{"a":"b"}`), Required: true},
		{Name: "tags"}, {Name: "level"}, {Name: "n"}, {Name: "any"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v (%v)\nwant %+v", got, err, want)
	}
}

// FromInputSchema accepts properties that ask.FromSchema rejects.
func TestFromInputSchemaAcceptsAnyProperty(t *testing.T) {
	for _, property := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"array"}`,
		`{"type":"array","items":{"enum":["a"]},"minItems":2}`, `{"type":"string","format":"hostname"}`, `{"type":"string","format":"time","pattern":"a"}`,
		`{"type":"string","contentEncoding":"base64"}`, `{"type":"string","minLength":3,"maxLength":2}`, `{"type":"string","enum":[1]}`,
		`{"type":"string","not":{"const":"a"}}`, `{"type":"string","const":"a"}`, `{"type":"number","exclusiveMinimum":0}`,
		`{"$ref":"#/$defs/d"}`, `{"type":["string","null"]}`, `{}`, `{"type":"null"}`, `false`,
	} {
		raw := `{"type":"object","$defs":{"d":{"type":"string"}},"required":["other","odd"],"properties":{"first":{"type":"string"},"odd":` + property + `}}`
		fields, err := form.FromInputSchema(&jsonschema.Schema{})
		if err == nil {
			t.Errorf("a schema without a type became %+v", fields)
		}
		fields, err = form.FromInputSchema(schema(t, raw).Document())
		if err != nil || len(fields) != 2 || fields[0].Name != "first" || fields[1].Name != "odd" || !fields[1].Required {
			t.Errorf("%s became %+v (%v)", property, fields, err)
		}
	}
}

// FromInputSchema returns an error for schemas that aren't objects, have properties
// without names, or are too large.
func TestFromInputSchemaErrors(t *testing.T) {
	large := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for i := range 101 {
		large.Properties[strconv.Itoa(i)] = &jsonschema.Schema{}
	}
	tests := []struct {
		schema *jsonschema.Schema
		want   string
	}{
		{nil, "a form is an object"},
		{&jsonschema.Schema{Type: "string"}, "a form is an object"},
		{&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"": {}}}, "a field has no name"},
		{large, "at most 100 fields"},
	}
	for _, tt := range tests {
		if fields, err := form.FromInputSchema(tt.schema); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %+v, %v; want the error %q", fields, err, tt.want)
		}
	}
	fields, err := form.FromInputSchema(&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"a": nil}})
	if err != nil || len(fields) != 1 || fields[0].Name != "a" {
		t.Errorf("a property without a schema became %+v (%v)", fields, err)
	}
}
