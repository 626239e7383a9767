package form_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

func TestRequestedSchema20250618(t *testing.T) {
	raw := form.RequestedSchema20250618(allFields())
	golden(t, "schema20250618.json", raw)
	checkSchema20250618(t, raw)
	if got := string(form.RequestedSchema20250618(askdata.Fields(nil))); got != `{"type":"object","properties":{}}` {
		t.Errorf("a form without fields is %s", got)
	}
}

// keywords20250618 is what MCP 2025-06-18 allows in elicitation/create, by type.
var keywords20250618 = map[string][]string{
	"string":  {"type", "title", "description", "minLength", "maxLength", "format", "enum", "enumNames"},
	"number":  {"type", "title", "description", "minimum", "maximum"},
	"integer": {"type", "title", "description", "minimum", "maximum"},
	"boolean": {"type", "title", "description", "default"},
}

// checkSchema20250618 checks that a schema is within the subset of 2025-06-18.
func checkSchema20250618(t *testing.T, raw []byte) {
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
		for keyword := range property {
			if !slices.Contains(keywords20250618[kind], keyword) {
				t.Errorf("property %q (%s) has the keyword %s, which is not in the subset", name, kind, keyword)
			}
		}
		var enum, names []string
		_ = json.Unmarshal(property["enum"], &enum)
		_ = json.Unmarshal(property["enumNames"], &names)
		if names != nil && len(names) != len(enum) {
			t.Errorf("property %q has %d choices and %d names", name, len(enum), len(names))
		}
	}
	for _, name := range fields.Required {
		if fields.Properties[name] == nil {
			t.Errorf("%q is required, but isn't a property", name)
		}
	}
}

// The descriptions state the rules that the schema can't express.
func TestDescriptions20250618(t *testing.T) {
	descriptions := map[string]string{
		"name":     "As on the badge. Default: Ada",
		"airport":  "Where from. Must be three capital letters.",
		"day":      "Not before 2026-05-01. Not after 2026-05-31.",
		"sure":     "",
		"pick":     "",
		"many.a":   "A choice for “many”. Choose 1 to 2.",
		"many.b":   "A choice for “many”.",
		"titles.g": "A choice for “titles”.",
		"level":    "How loud. Default: Very loud",
		"count":    "Default: 3",
		"list.x":   "A choice for “List”. What to take. Choose 2.",
		"least.x":  "A choice for “least”. Choose at least 1.",
		"most.x":   "A choice for “most”. Choose at most 1.",
	}
	fields := allFields()
	fields[11].Default = json.RawMessage(" 3 ")
	fields = append(fields,
		askdata.Field{Name: "level", Description: "How loud", Type: "string", Choices: []askdata.Choice{{Value: "v", Title: "Very loud"}}, Default: json.RawMessage(`"v"`)},
		askdata.Field{Name: "list", Title: "List", Description: "What to take.", Type: "array", Choices: askdata.Choices("x", "y"), MinItems: 2, MaxItems: 2},
		askdata.Field{Name: "least", Type: "array", Choices: askdata.Choices("x"), MinItems: 1},
		askdata.Field{Name: "most", Type: "array", Choices: askdata.Choices("x"), MaxItems: 1})
	doc := schema(t, string(form.RequestedSchema20250618(fields))).Document()
	for name, want := range descriptions {
		p := doc.Properties[name]
		if p == nil || p.Description != want {
			t.Errorf("%s is described as %+v, want %q", name, p, want)
		}
	}
	if p := doc.Properties["titles.g"]; p.Title != "Green" || string(p.Default) != "true" {
		t.Errorf("a choice that is a default is %+v", p)
	}
}

// The names of choices are unique, whatever the names of the fields are.
func TestChoiceNamesAreUnique(t *testing.T) {
	fields := askdata.Fields{
		{Name: "a.b", Type: "array", Choices: askdata.Choices("c")},
		{Name: "a", Type: "array", Choices: askdata.Choices("b.c", "b")},
		{Name: "a.b.c", Type: "boolean"},
	}
	if n := len(schema(t, string(form.RequestedSchema20250618(fields))).Document().Properties); n != 4 {
		t.Fatalf("%d properties: %s", n, form.RequestedSchema20250618(fields))
	}
	got, err := form.ContentFrom20250618(fields, []byte(`{"a.b.c_":true,"a.b.c__":false,"a.b_":true,"a.b.c":false}`))
	if want := `{"a.b":["c"],"a":["b"],"a.b.c":false}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestContentFrom20250618(t *testing.T) {
	fields := askdata.Fields{
		{Name: "name", Type: "string"},
		{Name: "must", Type: "array", Choices: askdata.Choices("a", "b"), Required: true},
		{Name: "may", Type: "array", Choices: askdata.Choices("a", "b")},
	}
	for content, want := range map[string]string{
		``: `{"must":[]}`,
		`{"name":"A","must.b":true,"must.a":true,"may.a":false,"x":1}`: `{"name":"A","must":["a","b"]}`,
		`{"may.b": true ,"must":["a"]}`:                                `{"must":[],"may":["b"]}`,
	} {
		got, err := form.ContentFrom20250618(fields, json.RawMessage(content))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", content, got, err, want)
		}
	}
	_, err := form.ContentFrom20250618(fields, []byte(`{"must.a":"yes","may.b":null}`))
	if messages := fieldErrors(t, err); messages["/must.a"] != "must be true or false, not text" || messages["/may.b"] != "must be true or false, not null" {
		t.Errorf("the errors are %q", messages)
	}
	for _, bad := range []string{`[]`, `{`, `null`} {
		if _, err := form.ContentFrom20250618(fields, json.RawMessage(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// answer20250618 converts content to that of a client of 2025-06-18: the choices in a
// list are true, and the others false.
func answer20250618(t *testing.T, fields askdata.Fields, content json.RawMessage) json.RawMessage {
	t.Helper()
	doc := schema(t, string(form.RequestedSchema20250618(fields))).Document()
	var values map[string]any
	if err := json.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	n := 0
	next := func() string { n++; return doc.PropertyOrder[n-1] } // one for each choice, in the form's order
	for _, f := range fields {
		if f.Type != "array" {
			next()
			continue
		}
		chosen, there := values[f.Name].([]any)
		delete(values, f.Name)
		for _, c := range f.Choices {
			if name := next(); there {
				values[name] = slices.Contains(chosen, any(c.Value))
			}
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// FuzzSchema20250618 converts any answer to any form to the schema of 2025-06-18 and
// back. The schema must be within the subset and accept what the form accepts. The
// answer must be unchanged, except for the order of lists and for empty lists that
// aren't required.
func FuzzSchema20250618(f *testing.F) {
	f.Add(string(form.Schema(allFields())), `{"name":"Ada","titled":"d","many":["b","a"],"titles":[],"sure":false,"share":0.25}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["b","b_",""]}},"a.b":{"type":"boolean"}},"required":["a"]}`, `{"a":["b",""],"a.b":true}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}`, `{"a.x":5}`)
	f.Fuzz(func(t *testing.T, schemaText, content string) {
		s, err := generators.ParseSchema(json.RawMessage(schemaText))
		if err != nil {
			return
		}
		fields, err := askdata.FromSchema(s.Document())
		if err != nil || fields.Validate() != nil {
			return
		}
		raw := form.RequestedSchema20250618(fields)
		checkSchema20250618(t, raw)
		if back, err := form.ContentFrom20250618(fields, json.RawMessage(content)); err == nil && !json.Valid(back) {
			t.Fatalf("%s became %s", content, back)
		}
		checked, err := fields.Check(json.RawMessage(content))
		if err != nil {
			return
		}
		answer := answer20250618(t, fields, checked)
		if err := schema(t, string(raw)).Validate(answer); err != nil {
			t.Fatalf("%s is rejected by %s: %v", answer, raw, err)
		}
		back, err := form.ContentFrom20250618(fields, answer)
		if err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		again, err := fields.Check(back)
		if err != nil {
			t.Fatalf("%s became %s: %v", checked, back, err)
		}
		if got, want := sortedContent(t, fields, again), sortedContent(t, fields, checked); got != want {
			t.Fatalf("%s came back as %s", want, got)
		}
	})
}

// sortedContent returns content with sorted lists and without empty ones.
func sortedContent(t *testing.T, fields askdata.Fields, content json.RawMessage) string {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		list, ok := values[f.Name].([]any)
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		if ok && len(list) == 0 {
			delete(values, f.Name)
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
