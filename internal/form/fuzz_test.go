package form_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

// FuzzDecodeForm posts any values to a form with every kind of field. Decode must
// return an object. If Check accepts it, the result must conform to the form's schema
// and be accepted again, unchanged.
func FuzzDecodeForm(f *testing.F) {
	f.Add("name=Ada&titled=d", "Europe/Berlin")
	f.Add("name=+&many=a&many=a&sure=on&share=1e0&count=4.0&at=2026-10-25T02:30&day=2026-05-01&clock=18:30", "Asia/Kathmandu")
	f.Add("name=%FF%00&count=-0&share=.25&share=5.&mail=a@b&site=x:y&code=1&airport=ABC&secret=+&titled=p&titles=r", "UTC")
	fields := allFields()
	schema, err := generators.ParseSchema(form.Schema(fields))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, post, zone string) {
		values, err := url.ParseQuery(post)
		if err != nil && len(values) == 0 {
			return
		}
		location, err := time.LoadLocation(zone)
		if err != nil {
			location = nil
		}
		decoded := form.Decode(fields, values, location)
		if !json.Valid(decoded) || decoded[0] != '{' {
			t.Fatalf("%q was decoded as %s", post, decoded)
		}
		checkAgainstSchema(t, fields, schema, decoded)
	})
}

// beyondSchema matches the errors for rules that a schema has no keyword for: numbers
// and times that Go can't represent, and bounds of dates.
var beyondSchema = regexp.MustCompile(`must be between -9223372036854775808|must be a date and time|must not be (before|after)`)

// checkAgainstSchema checks content with the form and with its schema, and compares
// the results.
func checkAgainstSchema(t *testing.T, fields askdata.Fields, schema *generators.Schema, content json.RawMessage) {
	t.Helper()
	checked, err := fields.Check(content)
	if err != nil {
		messages := fieldErrors(t, err)
		if len(messages) == 0 {
			t.Fatalf("%s is rejected without a message", content)
		}
		if schema.Validate(content) == nil && !beyondSchema.MatchString(fmt.Sprint(messages)) {
			t.Fatalf("%s is rejected, but its schema accepts it: %q", content, messages)
		}
		return
	}
	if err := schema.Validate(checked); err != nil {
		t.Fatalf("%s became %s, which its schema rejects: %v", content, checked, err)
	}
	again, err := fields.Check(checked)
	if err != nil || !bytes.Equal(again, checked) {
		t.Fatalf("%s became %s, and then %s (%v)", content, checked, again, err)
	}
}

// FuzzCheckForm checks any JSON as the content of any form. The form must accept only
// what conforms to its schema, and reject only what doesn't, or what Go can't
// represent.
func FuzzCheckForm(f *testing.F) {
	f.Add(string(form.Schema(allFields())), `{"name":"Ada","titled":"d","count":1e400}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"integer","multipleOf":3},"b":{"type":"string","format":"date-time"}}}`, `{"a":9.0,"b":"2026-06-30T23:59:60Z"}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x","y"]}}},"required":["a"]}`, `{"a":["x",5,"x"]}`)
	f.Fuzz(func(t *testing.T, schema, content string) {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		fields, err := askdata.FromSchema(s.Document())
		if err != nil {
			return
		}
		own, err := generators.ParseSchema(form.Schema(fields))
		if err != nil {
			t.Fatalf("%s became the form %s: %v", schema, form.Schema(fields), err)
		}
		checkAgainstSchema(t, fields, own, json.RawMessage(content))
	})
}

// FuzzFromSchema converts any schema to a form, and that to a schema and back. The
// fields must be the same; if the schema is within MCP's subset, except for the rules
// that the subset can't express.
func FuzzFromSchema(f *testing.F) {
	f.Add(string(form.Schema(allFields())))
	f.Add(string(form.RequestedSchema(allFields())))
	f.Add(`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"x"}]},"b":{"enum":["y"],"enumNames":["Y"]}},"required":["a","a"]}`)
	f.Add(`{"type":"object","properties":{"t":{"type":"string","format":"time","default":"1:2"},"n":{"type":"number","multipleOf":1e-320,"minimum":-0.0}}}`)
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		_ = form.ForSchema(s.Document()).Defaults()
		fields, err := askdata.FromSchema(s.Document())
		if err != nil {
			return
		}
		_ = fields.Validate()
		full := fieldsFromRaw(t, form.Schema(fields))
		if !reflect.DeepEqual(normalized(full), normalized(fields)) {
			t.Fatalf("%s: converted again, %+v became %+v", schema, normalized(fields), normalized(full))
		}
		requested := form.RequestedSchema(fields)
		checkSubset(t, requested)
		if again := fieldsFromRaw(t, requested); !reflect.DeepEqual(withoutDescribedRules(again), withoutDescribedRules(fields)) {
			t.Fatalf("%s: over MCP, %+v became %+v", schema, withoutDescribedRules(fields), withoutDescribedRules(again))
		}
	})
}

func fieldsFromRaw(t *testing.T, raw json.RawMessage) askdata.Fields {
	t.Helper()
	s, err := generators.ParseSchema(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	fields, err := askdata.FromSchema(s.Document())
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return fields
}

// normalized returns a form without titles that are the same as the value.
func normalized(fields askdata.Fields) askdata.Fields {
	out := askdata.Fields{}
	for _, f := range fields {
		var choices []askdata.Choice
		for _, c := range f.Choices {
			if c.Title == c.Value {
				c.Title = ""
			}
			choices = append(choices, c)
		}
		f.Choices = choices
		if f.Default != nil {
			var b bytes.Buffer
			if json.Compact(&b, f.Default) == nil {
				f.Default = b.Bytes()
			}
		}
		out = append(out, f)
	}
	return out
}

// withoutDescribedRules returns a form without the rules that MCP's subset can state
// only in descriptions.
func withoutDescribedRules(fields askdata.Fields) askdata.Fields {
	out := normalized(fields)
	for i := range out {
		f := &out[i]
		if f.Format == askdata.FormatTime {
			f.Format = ""
		}
		f.Description, f.Pattern, f.Step = "", "", nil
	}
	return out
}

// FuzzToolForm makes a form of any schema, fills it with any post and any JSON, and
// changes it. The content must be JSON, and the same when the form is posted again.
// JSON that the schema accepts must come back as it was, apart from what a form shows
// alike.
func FuzzToolForm(f *testing.F) {
	for _, tt := range roundTrips {
		for _, value := range tt.values {
			f.Add(tt.schema, "a~rows=1&a/0=x&b~variant=1&c~json=%7B", value, "add l")
		}
	}
	f.Add(editable, "l~rows=2&l/0/host=a&l/1~on=1&m~rows=2&m~k0=x&m~v0=y", `{"l":[{"host":"a"}]}`, "remove l/0")
	f.Fuzz(func(t *testing.T, schema, post, value, action string) {
		if len(schema)+len(post)+len(value) > 8<<10 {
			return
		}
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		values, err := url.ParseQuery(post)
		if err != nil && len(values) == 0 {
			return
		}
		tool := form.ForSchema(s.Document())
		parts := []*form.Part{tool.Defaults(), tool.Link(values), tool.Read(values, nil)}
		if json.Valid([]byte(value)) {
			parts = append(parts, tool.Fill(json.RawMessage(value)))
		}
		for _, p := range parts {
			_, _, _ = p.Edit(action)
			content := p.Content()
			if !json.Valid(content) {
				t.Fatalf("the content is %q", content)
			}
			_ = p.Problems()
			var names []string
			if err := s.Validate(content); err != nil {
				for path, message := range fieldErrors(t, err) {
					if names = append(names, path); message == "" {
						t.Fatalf("%s is rejected at %q without a message", content, path)
					}
				}
			}
			_ = form.Lines(form.Indent(content), names)
		}
	})
}
