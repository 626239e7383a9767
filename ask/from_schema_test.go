package ask_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/photon-beam/beam/internal/askdata"
)

// TestFromSchema converts properties that a form can represent.
func TestFromSchema(t *testing.T) {
	five, half := 5.0, 0.5
	tests := []struct {
		property string
		want     askdata.Field
	}{
		{`{"type":"string","title":"T","description":"D","default":"x"}`, askdata.Field{Type: "string", Title: "T", Description: "D", Default: json.RawMessage(`"x"`)}},
		{`{"type":"string","minLength":1,"maxLength":9,"pattern":"^a"}`, askdata.Field{Type: "string", MinLength: 1, MaxLength: 9, Pattern: "^a"}},
		{`{"type":"string","format":"email"}`, askdata.Field{Type: "string", Format: "email"}},
		{`{"type":"string","format":"date-time"}`, askdata.Field{Type: "string", Format: "date-time"}},
		{`{"type":"string","format":"time"}`, askdata.Field{Type: "string", Format: askdata.FormatTime, Pattern: askdata.TimePattern}},
		{`{"type":"string","pattern":"^([01]\\d|2[0-3]):[0-5]\\d$"}`, askdata.Field{Type: "string", Format: askdata.FormatTime, Pattern: askdata.TimePattern}},
		{`{"type":"string","enum":["a","b","a"]}`, askdata.Field{Type: "string", Choices: askdata.Choices("a", "b")}},
		{`{"enum":["a","b"],"minLength":9}`, askdata.Field{Type: "string", Choices: askdata.Choices("a", "b")}},
		{`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, askdata.Field{Type: "string", Choices: []askdata.Choice{{Value: "a", Title: "A"}, {Value: "b", Title: "B"}}}},
		{`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b"}]}`, askdata.Field{Type: "string", Choices: []askdata.Choice{{Value: "a", Title: "A"}, {Value: "b"}}}},
		{`{"type":"number","minimum":0.5,"maximum":5,"multipleOf":0.5,"format":"float"}`, askdata.Field{Type: "number", Minimum: &half, Maximum: &five, Step: &half}},
		{`{"type":"integer","maximum":5,"minLength":3}`, askdata.Field{Type: "integer", Maximum: &five}},
		{`{"type":"boolean","default":true}`, askdata.Field{Type: "boolean", Default: json.RawMessage(`true`)}},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2,"uniqueItems":true}`, askdata.Field{Type: "array", Choices: askdata.Choices("a", "b"), MinItems: 1, MaxItems: 2}},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, askdata.Field{Type: "array", Choices: []askdata.Choice{{Value: "a", Title: "A"}}}},
	}
	for _, tt := range tests {
		for _, required := range []string{"", `,"required":["f"]`} {
			tt.want.Name, tt.want.Required = "f", required != ""
			raw := `{"type":"object","properties":{"f":` + tt.property + `}` + required + `}`
			got, err := askdata.FromSchema(schema(t, raw).Document())
			if err != nil || !reflect.DeepEqual(got, askdata.Fields{tt.want}) {
				t.Errorf("%s:\n got %+v (%v)\nwant %+v", raw, got, err, tt.want)
			}
		}
	}
}

// FromSchema returns an error that names a property that a form can't represent.
func TestFromSchemaRejectsFields(t *testing.T) {
	tests := []struct{ property, want string }{
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, "is an object; a form is flat"},
		{`{"type":"array","items":{"type":"string"}}`, "is a list without choices"},
		{`{"type":"array"}`, "is a list of anything"},
		{`{"type":"array","items":{"type":"integer","enum":[1]}}`, "is a list of anything"},
		{`{"type":"array","items":{"enum":["a"]},"contains":{"const":"a"}}`, "is a list with rules"},
		{`{"type":"array","items":{"enum":["a"]},"minItems":2}`, "can't have 2 items of 1 choices"},
		{`{"type":"array","items":{"enum":["a"]},"maxItems":0}`, "allows no items"},
		{`{"type":"string","format":"hostname"}`, `has the format "hostname"`},
		{`{"type":"string","format":"time","pattern":"a"}`, "has the format time and a pattern"},
		{`{"type":"string","contentEncoding":"base64"}`, "is encoded"},
		{`{"type":"string","maxLength":0}`, "allows no characters"},
		{`{"type":"string","minLength":3,"maxLength":2}`, "can't have 3 to 2 characters"},
		{`{"type":"string","enum":[1]}`, "choices are strings"},
		{`{"type":"string","enum":[]}`, "needs one list of choices"},
		{`{"type":"string","enum":["a"],"oneOf":[{"const":"a"}]}`, "needs one list of choices"},
		{`{"type":"string","oneOf":[{"pattern":"a"}]}`, "alternatives that are not constants"},
		{`{"type":"string","oneOf":[{"const":1}]}`, "choices are strings"},
		{`{"type":"string","anyOf":[{"minLength":1}]}`, "is conditional"},
		{`{"type":"string","not":{"const":"a"}}`, "is conditional"},
		{`{"type":"string","if":{"const":"a"}}`, "is conditional"},
		{`{"type":"string","const":"a"}`, "is a constant"},
		{`{"type":"integer","enum":[1,2]}`, "has choices that are not text"},
		{`{"type":"boolean","enum":[true]}`, "has choices that are not text"},
		{`{"type":"number","exclusiveMinimum":0}`, "has an exclusive bound"},
		{`{"type":"integer","exclusiveMaximum":9}`, "has an exclusive bound"},
		{`{"type":"number","minimum":2,"maximum":1}`, "can't be from 2 to 1"},
		{`{"$ref":"#/$defs/d"}`, "refers to another schema"},
		{`{"type":["string","null"]}`, "has no single type"},
		{`{}`, "has no single type"},
		{`{"type":"null"}`, "has no single type"},
		{`false`, "is conditional"},
	}
	for _, tt := range tests {
		raw := `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"first":{"type":"string"},"wrong":` + tt.property + `}}`
		_, err := askdata.FromSchema(schema(t, raw).Document())
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `field "wrong": `) {
			t.Errorf("%s: the error is %v, want %q", tt.property, err, tt.want)
		}
	}
}

// FromSchema returns an error for objects whose properties depend on each other, and
// for schemas that aren't objects.
func TestFromSchemaRejectsForms(t *testing.T) {
	a := `"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}`
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
	}
	tests := []struct{ schema, want string }{
		{`{"type":"string"}`, "a form is an object"},
		{`true`, "a form is an object"},
		{`{` + a + `,"if":{"required":["a"]},"then":{"required":["b"]}}`, "is conditional"},
		{`{` + a + `,"oneOf":[{"required":["a"]}]}`, "is conditional"},
		{`{` + a + `,"anyOf":[{"required":["a"]}]}`, "is conditional"},
		{`{` + a + `,"dependentRequired":{"a":["b"]}}`, "is conditional"},
		{`{` + a + `,"minProperties":1}`, "without names"},
		{`{` + a + `,"patternProperties":{"^x":{}}}`, "without names"},
		{`{` + a + `,"required":["c"]}`, `field "c": is required, but there is no such property`},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, "is a map"},
		{`{"type":"object","properties":{"":{"type":"string"}}}`, "has no name"},
		{`{"type":"object","properties":{` + strings.Join(many, ",") + `}}`, "at most 100 fields; this one has 101"},
	}
	for _, tt := range tests {
		if _, err := askdata.FromSchema(schema(t, tt.schema).Document()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want %q", tt.schema, err, tt.want)
		}
	}
	for _, raw := range []string{`{"type":"object"}`, `{"type":"object","properties":{},"additionalProperties":false}`} {
		if form, err := askdata.FromSchema(schema(t, raw).Document()); err != nil || len(form) != 0 {
			t.Errorf("%s: %+v, %v; want a form without fields", raw, form, err)
		}
	}
	for _, s := range []*jsonschema.Schema{nil, {Type: "object", Properties: map[string]*jsonschema.Schema{"a": nil}}, {Type: "object", Properties: map[string]*jsonschema.Schema{"a": {Type: "string", OneOf: []*jsonschema.Schema{nil}}}}} {
		if _, err := askdata.FromSchema(s); err == nil {
			t.Errorf("%+v is accepted as a form", s)
		}
	}
}
