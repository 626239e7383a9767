package generators_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// orderSchema is a nested schema with every kind of rule.
const orderSchema = `{
  "type": "object", "additionalProperties": false,
  "required": ["id", "items"],
  "properties": {
    "id":    {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    "mail":  {"type": "string", "format": "email"},
    "site":  {"type": "string", "format": "uri"},
    "day":   {"type": "string", "format": "date"},
    "at":    {"type": "string", "format": "date-time"},
    "kind":  {"enum": ["a", 1, null]},
    "title": {"type": "string", "oneOf": [{"const": "m", "title": "Mx"}, {"const": "d", "title": "Dr"}]},
    "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
    "count": {"type": "integer", "minimum": -2, "maximum": 1000000000000000000000, "default": 1},
    "sure":  {"type": ["boolean", "null"]},
    "v":     {"const": 2},
    "tags":  {"type": "array", "uniqueItems": true, "minItems": 1, "maxItems": 3, "items": {"type": "string", "minLength": 1}},
    "a/b~c": {"type": "string"},
    "items": {"type": "array", "items": {"type": "object", "required": ["sku"],
      "properties": {"sku": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}, "additionalProperties": false}},
    "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "some":  {"type": "object", "minProperties": 1}
  }
}`

func TestCheckReportsEveryViolation(t *testing.T) {
	s, err := generators.ParseSchema(json.RawMessage(orderSchema))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		value string
		want  map[string]string
	}{
		{`{"id":"ab","items":[]}`, nil},
		{`{}`, map[string]string{"/id": "is required", "/items": "is required"}},
		{`{"id":"","items":{}}`, map[string]string{"/id": "must be at least 2 characters long; it has 0; must match the pattern ^[a-z]+$", "/items": "must be a list, not an object"}},
		{`{"id":"abcdé","items":[],"mail":"ada","site":"/x","day":"1.2.2026","at":"2026-01-01T10:00"}`, map[string]string{
			"/id":   "must be at most 4 characters long; it has 5; must match the pattern ^[a-z]+$",
			"/mail": "must be an email address, such as ada@example.org",
			"/site": "must be a complete web address, such as https://example.org/page",
			"/day":  "must be a date, such as 2026-12-31",
			"/at":   "must be a date and time with its zone, such as 2026-12-31T18:30:00Z",
		}},
		{`{"id":"ab","items":[],"kind":"b","title":"x","share":1,"count":1.5,"sure":"yes","v":3}`, map[string]string{
			"/kind": "must be one of a, 1, null", "/title": "must be one of m, d", "/share": "must be less than 1",
			"/count": "must be a whole number", "/sure": "must be null or true or false, not text", "/v": "must be 2",
		}},
		{`{"id":"ab","items":[],"share":0.3,"count":-3,"tags":[]}`, map[string]string{
			"/share": "must be a multiple of 0.25", "/count": "must be at least -2", "/tags": "must have at least 1 item; it has 0",
		}},
		{`{"id":"ab","items":[],"share":0,"count":1000000000000000000001,"tags":["a","a","","b"]}`, map[string]string{
			"/share": "must be more than 0", "/count": "must be at most 1000000000000000000000",
			"/tags": "must have at most 3 items; it has 4; must not have the same item twice", "/tags/2": "must not be empty",
		}},
		{`{"id":"ab","items":[{"sku":"x"},{"n":0,"x":1},5]}`, map[string]string{
			"/items/1/sku": "is required", "/items/1/n": "must be at least 1", "/items/1/x": "is not a known field",
			"/items/2": "must be an object, not a number",
		}},
		{`{"id":"ab","items":[],"a/b~c":1,"new":2,"n/w~":3}`, map[string]string{
			"/a~1b~0c": "must be text, not a number", "/new": "is not a known field", "/n~1w~0": "is not a known field",
		}},
		{`{"id":"ab","items":[],"either":true,"some":{}}`, map[string]string{
			"/either": "must match one of the alternatives in the schema", "/some": "must satisfy the schema's keyword minProperties",
		}},
		{`null`, map[string]string{"": "must be an object, not null"}},
		{`[1]`, map[string]string{"": "must be an object, not a list"}},
		{`{"id":"ab","items":[],"count":1e999999,"share":1E+400}`, map[string]string{
			"/count": "must be a number of ordinary size", "/share": "must be a number of ordinary size",
		}},
	}
	for _, tt := range tests {
		_, err := s.Check(json.RawMessage(tt.value))
		if err == nil {
			if tt.want != nil {
				t.Errorf("%s: accepted", tt.value)
			}
			continue
		}
		if got := fieldErrors(t, err); !maps.Equal(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.value, got, tt.want)
		}
		if v := s.Validate(json.RawMessage(tt.value)); v == nil {
			t.Errorf("%s: Validate accepts what Check rejects", tt.value)
		}
	}
}

func TestCheckInvalidJSON(t *testing.T) {
	s, _ := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	for _, value := range []string{"", " ", "{", "{}{}", "{} x", "nul", "'a'", `{"a":01}`, "\xff", "\x00"} {
		_, err := s.Check(json.RawMessage(value))
		if err == nil || !strings.HasPrefix(fieldErrors(t, err)[""], "must be a single JSON value: ") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestCheckFillsInDefaults(t *testing.T) {
	s, err := generators.ParseSchema(json.RawMessage(`{"type":"object","required":["a"],"properties":{
	  "a":{"type":"string","default":"x"}, "b":{"default":null}, "c":{"default":{"d":[1]}}, "e":{"type":"integer","default":"wrong"}, "f":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Check(json.RawMessage(`{"e":1,"z":12345678901234567890.5}`))
	if want := `{"a":"x","b":null,"c":{"d":[1]},"e":1,"z":12345678901234567890.5}`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if _, err := s.Check(json.RawMessage(`{}`)); fieldErrors(t, err)["/e"] != "must be a whole number, not text" {
		t.Errorf("with an invalid value instead of the default: %v", err)
	}
	same := json.RawMessage(`{ "a":"", "b":1, "c":2, "e":3 }`)
	if got, err := s.Check(same); err != nil || string(got) != string(same) {
		t.Errorf("%s became %s (%v), want it unchanged", same, got, err)
	}
}

func TestCheckNormalizesIntegers(t *testing.T) {
	s, _ := generators.ParseSchema(json.RawMessage(`{}`))
	for value, want := range map[string]string{
		`4.0`: `4`, `-4e2`: `-400`, `[1.50,2.0,{"a":3E0}]`: `[1.50,2,{"a":3}]`, `1e17`: `100000000000000000`,
		`9007199254740993.0`: `9007199254740993`, `1e30`: `1e30`, `0.1`: `0.1`, `-0.0`: `0`, `12345678901234567890`: `12345678901234567890`,
	} {
		if got, err := s.Check(json.RawMessage(value)); err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", value, got, err, want)
		}
	}
}

// The number of errors for one value is bounded.
func TestViolationsAreBounded(t *testing.T) {
	s, _ := generators.ParseSchema(json.RawMessage(`{"items":{"type":"integer"}}`))
	_, err := s.Check(json.RawMessage("[" + strings.Repeat(`"x",`, 5000) + `1]`))
	if n := len(fieldErrors(t, err)); n != 100 {
		t.Errorf("%d violations", n)
	}
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf(`"v%d"`, i))
	}
	s, _ = generators.ParseSchema(json.RawMessage(`{"enum":[` + strings.Join(many, ",") + `]}`))
	_, err = s.Check(json.RawMessage(`0`))
	if got := fieldErrors(t, err)[""]; !strings.HasSuffix(got, "v18, v19 … (500 in all)") {
		t.Errorf("got %s", got)
	}
}

func TestFieldErrorNamesItsField(t *testing.T) {
	for _, name := range []string{"a", "a/b", "~", "~1", "ü", ""} {
		if got := driver.FieldOf(driver.At(name, "m")); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
	if got := driver.FieldOf((generators.FieldError{Path: "/a~1b/0/c"})); got != "a/b" {
		t.Errorf("the field of a nested path = %q", got)
	}
	err := &generators.InvalidError{Fields: []generators.FieldError{{Message: "is bad"}, driver.At("x", "is worse")}}
	if err.Error() != "is bad; /x is worse" {
		t.Errorf("the error is %q", err)
	}
}

func TestDocumentKeepsPropertyOrder(t *testing.T) {
	s, err := generators.ParseSchema(json.RawMessage(`{"type":"object","properties":{"z":{"properties":{"q":{}}},"a":true,"m":{}}}`))
	if err != nil || !slices.Equal(s.Document().PropertyOrder, []string{"z", "a", "m"}) {
		t.Errorf("the order is %q (%v)", s.Document().PropertyOrder, err)
	}
}

func TestCheckEmptyObject(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: `{}`,
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`: `{}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:             "/a is required",
		`{"type":"object","minProperties":1}`:                                                 "minProperties",
		`{"type":"object","properties":{"a":{"type":"integer","default":7}}}`:                 `{"a":7}`,
		`{"type":"string"}`:         "must be text",
		`{"not":{"type":"object"}}`: "keyword not",
	} {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		for _, empty := range []string{"{}", " { } "} {
			got, err := s.Check(json.RawMessage(empty))
			outcome := strings.ReplaceAll(string(got), " ", "")
			if err != nil {
				outcome = err.Error()
			}
			if !strings.Contains(outcome, want) {
				t.Errorf("%q against %s gives %s, want %s", empty, schema, outcome, want)
			}
		}
	}
}

// TestErrorsOfAlternatives checks that a value is told what is wrong with it as the
// alternative that it means, which its type or a constant tells.
func TestErrorsOfAlternatives(t *testing.T) {
	s, err := generators.ParseSchema(json.RawMessage(`{"oneOf":[
	  {"type":"object","required":["kind","url"],"properties":{"kind":{"const":"git"},"url":{"type":"string"}}},
	  {"type":"object","required":["kind"],"properties":{"kind":{"enum":["file"]},"size":{"anyOf":[{"type":"integer","minimum":1},{"type":"string"}]}}},
	  {"type":"array","minItems":2}, {"type":"array","items":{"type":"string"},"maxItems":1}, {"type":"string","minLength":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const other = "must match one of the alternatives in the schema"
	for value, want := range map[string]map[string]string{
		`{"kind":"git"}`:            {"/url": "is required"},
		`{"kind":"git","url":1}`:    {"/url": "must be text, not a number"},
		`{"kind":"file","size":0}`:  {"/size": "must be at least 1"},
		`{"kind":"file","size":[]}`: {"/size": other},
		`"ab"`:                      {"": "must be at least 3 characters long; it has 2"},
		`{"kind":"none"}`:           {"": other},
		`{}`:                        {"": other},
		`[1]`:                       {"": other},
		`true`:                      {"": other},
	} {
		if got := fieldErrors(t, s.Validate(json.RawMessage(value))); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", value, got, want)
		}
	}
}
