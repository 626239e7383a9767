package ask_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// FuzzDecodeForm posts anything to a form with every kind of field. Decoding
// never panics and gives an object; what Check accepts of it conforms to the
// form's schema and is accepted again, unchanged.
func FuzzDecodeForm(f *testing.F) {
	f.Add("name=Ada&titled=d", "Europe/Berlin")
	f.Add("name=+&many=a&many=a&sure=on&share=1e0&count=4.0&at=2026-10-25T02:30&day=2026-05-01&clock=18:30", "Asia/Kathmandu")
	f.Add("name=%FF%00&count=-0&share=.25&share=5.&mail=a@b&site=x:y&code=1&airport=ABC&secret=+&titled=p&titles=r", "UTC")
	form := allFields()
	schema, err := generators.ParseSchema(form.Schema())
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
		decoded := form.Decode(values, location)
		if !json.Valid(decoded) || decoded[0] != '{' {
			t.Fatalf("%q was decoded as %s", post, decoded)
		}
		checkAgainstSchema(t, form, schema, decoded)
	})
}

// beyondSchema are the rules that a schema has no keyword for: whole numbers and
// moments that Go can hold, and bounds of dates.
var beyondSchema = regexp.MustCompile(`must be between -9223372036854775808|must be a date and time|must not be (before|after)`)

// checkAgainstSchema holds the two ways to check a form's content against each other.
func checkAgainstSchema(t *testing.T, form ask.Fields, schema *generators.Schema, content json.RawMessage) {
	t.Helper()
	checked, err := form.Check(content)
	if err != nil {
		said := sentences(t, err)
		if len(said) == 0 {
			t.Fatalf("%s is refused without a reason", content)
		}
		if schema.Validate(content) == nil && !beyondSchema.MatchString(fmt.Sprint(said)) {
			t.Fatalf("%s is refused, and its schema accepts it: %q", content, said)
		}
		return
	}
	if err := schema.Validate(checked); err != nil {
		t.Fatalf("%s became %s, which its schema refuses: %v", content, checked, err)
	}
	again, err := form.Check(checked)
	if err != nil || !bytes.Equal(again, checked) {
		t.Fatalf("%s became %s, and then %s (%v)", content, checked, again, err)
	}
}

// FuzzCheckForm sends any JSON as the content of any form, read from a schema.
// The form's own check agrees with its schema: what it accepts conforms, and
// what it refuses either doesn't, or is a value that Go has no type for.
func FuzzCheckForm(f *testing.F) {
	f.Add(string(allFields().Schema()), `{"name":"Ada","titled":"d","count":1e400}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"integer","multipleOf":3},"b":{"type":"string","format":"date-time"}}}`, `{"a":9.0,"b":"2026-06-30T23:59:60Z"}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x","y"]}}},"required":["a"]}`, `{"a":["x",5,"x"]}`)
	f.Fuzz(func(t *testing.T, schema, content string) {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		form, err := ask.FromSchema(s.Document())
		if err != nil {
			return
		}
		own, err := generators.ParseSchema(form.Schema())
		if err != nil {
			t.Fatalf("%s became the form %s: %v", schema, form.Schema(), err)
		}
		checkAgainstSchema(t, form, own, json.RawMessage(content))
	})
}

// FuzzFromSchema makes a form of any schema. What Narrow accepts, MCP's subset can
// say, and Narrow reads that as the same fields; the full schema loses nothing.
func FuzzFromSchema(f *testing.F) {
	f.Add(string(allFields().Schema()))
	f.Add(string(allFields().RequestedSchema()))
	f.Add(`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"x"}]},"b":{"enum":["y"],"enumNames":["Y"]}},"required":["a","a"]}`)
	f.Add(`{"type":"object","properties":{"t":{"type":"string","format":"time","default":"1:2"},"n":{"type":"number","multipleOf":1e-320,"minimum":-0.0}}}`)
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		_, _ = ask.FromInputSchema(s.Document())
		form, err := ask.FromSchema(s.Document())
		if err != nil {
			return
		}
		_ = form.Validate()
		full := fieldsFromRaw(t, form.Schema())
		if !reflect.DeepEqual(normalized(full), normalized(form)) {
			t.Fatalf("%s: narrowed again, %+v became %+v", schema, normalized(form), normalized(full))
		}
		requested := form.RequestedSchema()
		checkSubset(t, requested)
		if again := fieldsFromRaw(t, requested); !reflect.DeepEqual(withoutDescribedRules(again), withoutDescribedRules(form)) {
			t.Fatalf("%s: over MCP, %+v became %+v", schema, withoutDescribedRules(form), withoutDescribedRules(again))
		}
	})
}

func fieldsFromRaw(t *testing.T, raw json.RawMessage) ask.Fields {
	t.Helper()
	s, err := generators.ParseSchema(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	form, err := ask.FromSchema(s.Document())
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return form
}

// normalized is a form without what is only another way to say the same: a title
// that is the value.
func normalized(form ask.Fields) ask.Fields {
	out := ask.Fields{}
	for _, f := range form {
		var choices []ask.Choice
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

// withoutDescribedRules is a form without what MCP's subset only describes.
func withoutDescribedRules(form ask.Fields) ask.Fields {
	out := normalized(form)
	for i := range out {
		f := &out[i]
		if f.Format == ask.FormatTime {
			f.Format = ""
		}
		f.Description, f.Pattern, f.Step = "", "", nil
	}
	return out
}

// FuzzReply settles an ask with anything: the generator gets the field's value
// as encoding/json reads it, or an error.
func FuzzReply(f *testing.F) {
	f.Add(`{"k":"a"}`)
	f.Add(` { "x" : [ {"k":"no"} , "]" , -1e5 ] , "\u006b" : "\u00e4\n" , "k":"last" } `)
	f.Add(`{"k":"<\\\"` + "\xff" + `"}`)
	f.Add(`{"k"`)
	f.Fuzz(func(t *testing.T, reply string) {
		var got string
		var err error
		p := photon(func(yield generators.Yield) (int, error) {
			got, err = ask.Text(yield, "k", "m")
			return 0, nil
		})
		for e, runErr := range p.Run(t.Context(), json.RawMessage("{}")) {
			if runErr != nil {
				t.Fatalf("%q: %v", reply, runErr)
			}
			if c, ok := e.(*generators.Call); ok {
				c.Settle(generators.Reply{Value: json.RawMessage(reply)})
			}
		}
		var want map[string]any
		if json.Unmarshal([]byte(reply), &want) != nil || want == nil {
			return
		}
		text, isText := want["k"].(string)
		if isText && (err != nil || got != text) || !isText && got != "" {
			t.Fatalf("%q: got %q (%v), want %v", reply, got, err, want["k"])
		}
	})
}
