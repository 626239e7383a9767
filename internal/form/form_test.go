package form_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

// outline describes the parts of a form, one in a line.
func outline(p *form.Part) string {
	var b strings.Builder
	writeOutline(&b, p, 0)
	return b.String()
}

func writeOutline(b *strings.Builder, p *form.Part, depth int) {
	for _, part := range p.Parts {
		fmt.Fprintf(b, "%s%s %s %q", strings.Repeat("  ", depth), part.Kind, part.Input, part.Label())
		if part.Kind == form.Control {
			fmt.Fprintf(b, " %s%s", part.Type, formatOf(part))
		}
		if part.Required && !part.Row {
			b.WriteString(" required")
		}
		if part.CanAdd {
			b.WriteString(" +")
		}
		if len(part.Variants) > 0 {
			fmt.Fprintf(b, " %d of %q", part.Variant, part.Variants)
		}
		if len(part.Values) > 0 {
			fmt.Fprintf(b, " = %q", part.Values)
		}
		b.WriteString("\n")
		writeOutline(b, part, depth+1)
	}
}

func formatOf(p *form.Part) string {
	if len(p.Choices) > 0 {
		return fmt.Sprintf(" %d choices", len(p.Choices))
	}
	if p.Format != "" {
		return " " + p.Format
	}
	return ""
}

// posted returns what a browser posts for a form.
func posted(p *form.Part) url.Values {
	values := url.Values{}
	addPosted(values, p)
	return values
}

func addPosted(values url.Values, p *form.Part) {
	switch p.Kind {
	case form.Control:
		if p.Type == "boolean" || p.Type == "array" {
			values.Set(p.ShownInput(), "1")
		}
		if p.Type == "boolean" && len(p.Choices) == 0 && (p.Present || p.Required || len(p.Values) > 0) {
			values.Add(p.Input, "off")
		}
		for _, v := range p.Values {
			if p.Type != "string" && p.Type != "array" || p.Format == askdata.FormatLong || !strings.ContainsAny(v, "\r\n") || len(p.Choices) > 0 {
				values.Add(p.Input, v)
			}
		}
		if len(p.Values) == 0 && p.Type != "boolean" && p.Type != "array" {
			values.Add(p.Input, "")
		}
	case form.JSON:
		values.Add(p.JSONInput(), strings.Join(p.Values, ""))
	case form.Choice:
		values.Set(p.VariantInput(), fmt.Sprint(p.Variant))
	case form.List, form.Map:
		values.Set(p.RowsInput(), fmt.Sprint(len(p.Parts)))
	}
	if p.Present && p.Input != "" {
		values.Set(p.PresentInput(), "1")
	}
	for i, part := range p.Parts {
		if p.Kind == form.Map {
			values.Set(p.KeyInput(i), part.Name)
		}
		addPosted(values, part)
	}
}

// Every value becomes a form, and the same value again, also if the form is posted.
func TestRoundTrip(t *testing.T) {
	for _, tt := range roundTrips {
		t.Run(tt.name, func(t *testing.T) {
			f := form.ForSchema(schema(t, tt.schema).Document())
			for _, value := range tt.values {
				p := f.Fill([]byte(value))
				if got := string(p.Content()); got != value {
					t.Errorf("%s became %s\n%s", value, got, outline(p))
				}
				if got := string(f.Read(posted(p), nil).Content()); got != value {
					t.Errorf("%s was posted as %v and became %s\n%s", value, posted(p), got, outline(f.Read(posted(p), nil)))
				}
				if json := countJSON(p); json != tt.json {
					t.Errorf("%s has %d parts that are JSON, want %d\n%s", value, json, tt.json, outline(p))
				}
			}
		})
	}
}

var roundTrips = []struct {
	name, schema string
	json         int // how many parts are JSON
	values       []string
}{
	{"nested objects", `{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"c":{"type":"object","properties":{"d":{"type":"number"}}}}}}}`, 0,
		[]string{`{"a":{"b":"x"}}`, `{"a":{"b":"x","c":{}}}`, `{"a":{"b":"x","c":{"d":1.50}}}`, `{"a":{}}`}},
	{"lists of scalars", `{"type":"object","properties":{"s":{"type":"array","items":{"type":"string"}},"n":{"type":"array","items":{"type":["integer","null"]}},"b":{"type":"array","items":{"type":"boolean"}}}}`, 0,
		[]string{`{}`, `{"s":[]}`, `{"s":["a","","b\nc"]}`, `{"n":[1,null,12345678901234567890]}`, `{"b":[true,false]}`}},
	{"lists of objects", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"array","items":{"type":"number"}}}}}}}`, 0,
		[]string{`{"l":[{"x":"a","y":[1,2]},{},{"y":[]}]}`}},
	{"tuples", `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"string","title":"Unit"}],"items":{"type":"boolean"}}}}`, 0,
		[]string{`{}`, `{"p":[1,"km"]}`, `{"p":[1,"km",true]}`}},
	{"variants", `{"type":"object","required":["v"],"properties":{"v":{"oneOf":[{"type":"object","title":"Circle","required":["kind"],"properties":{"kind":{"const":"circle"},"r":{"type":"number"}}},{"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}}},{"type":"string"}]}}}`, 0,
		[]string{`{"v":{"kind":"circle","r":2}}`, `{"v":{"kind":"square","side":3}}`, `{"v":"none"}`, `{}`}},
	{"variants of the arguments", `{"type":"object","required":["id"],"properties":{"id":{"type":"string"}},"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, 0,
		[]string{`{"a":"x","id":"1"}`, `{"b":2,"id":"1"}`}},
	{"several types", `{"type":"object","properties":{"t":{"type":["string","integer","null"]}}}`, 0,
		[]string{`{"t":"1"}`, `{"t":1}`, `{}`}},
	{"optional of Python", `{"type":"object","properties":{"t":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"o":{"anyOf":[{"$ref":"#/$defs/o"},{"type":"null"}]}},"$defs":{"o":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, 0,
		[]string{`{}`, `{"t":"a"}`, `{"t":null}`, `{"o":{"x":1}}`}},
	{"recursive", `{"$ref":"#/$defs/node","type":"object","$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`, 0,
		[]string{`{"name":"a","children":[{"name":"b","children":[{"name":"c"}]},{}]}`}},
	{"allOf", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/b"}],"properties":{"c":{"type":"boolean"}},"$defs":{"b":{"properties":{"b":{"type":"integer","minimum":1}},"required":["b"]}}}`, 0,
		[]string{`{"c":true,"a":"x","b":2}`, `{"c":false,"b":1}`}},
	{"if", `{"type":"object","properties":{"country":{"enum":["US","CH"]}},"if":{"properties":{"country":{"const":"US"}},"required":["country"]},"then":{"properties":{"zip":{"type":"string"}}},"else":{"properties":{"plz":{"type":"integer"}}}}`, 0,
		[]string{`{"country":"US","zip":"1"}`, `{"country":"CH","plz":8000}`}},
	{"maps", `{"type":"object","properties":{"env":{"type":"object","additionalProperties":{"type":"string"}},"n":{"type":"object","patternProperties":{"^n_":{"type":"integer"},"^s_":{"type":"string"}},"additionalProperties":false}}}`, 0,
		[]string{`{}`, `{"env":{}}`, `{"env":{"A/B":"1","":"~"}}`, `{"n":{"n_a":1,"s_b":"x"}}`}},
	{"enums", `{"type":"object","properties":{"m":{"enum":[1,"1",null,true,{"a":[]}]},"c":{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"Two"}]},"l":{"type":"array","items":{"enum":["a","b"]}}}}`, 0,
		[]string{`{"m":1}`, `{"m":"1"}`, `{"m":null}`, `{"m":{"a":[]},"c":2,"l":["b","a"]}`, `{"l":[]}`}},
	{"odd names", `{"type":"object","properties":{"a/b":{"type":"string"},"~":{"type":"object","properties":{"~json":{"type":"string"}}},"":{"type":"string"},"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`, 0,
		[]string{`{"a/b":"1","~":{"~json":"2"},"a":{"b":"3"}}`}},
	{"members without a property", `{"type":"object","properties":{"a":{"type":"string"}}}`, 0,
		[]string{`{"a":"x","other":{"b":[1]}}`}},
	{"explicit values", `{"type":"object","properties":{"t":{"type":"string"},"b":{"type":"boolean"}}}`, 0,
		[]string{`{"t":""}`, `{"b":false}`, `{"b":true}`}},
	{"values instead of defaults", `{"type":"object","properties":{"b":{"type":"boolean","default":true},"l":{"type":"array","items":{"enum":["a","b"]},"default":["a"]},"s":{"type":"string","default":"x"},"r":{"type":"array","items":{"type":"string"},"default":["y"]}}}`, 0,
		[]string{`{}`, `{"b":false,"l":[],"s":"","r":[]}`, `{"b":true,"l":["b"],"s":"y","r":["z"]}`}},
	{"secrets", `{"type":"object","properties":{"p":{"type":"string","format":"password"},"o":{"type":"object","properties":{"p":{"type":"string","format":"password"}}}}}`, 0,
		[]string{`{"p":"x","o":{"p":"y"}}`}},
	{"read-only values", `{"type":"object","properties":{"id":{"type":"string","readOnly":true},"o":{"type":"object","properties":{"id":{"type":"integer","readOnly":true}}}}}`, 0,
		[]string{`{}`, `{"id":"x","o":{"id":1}}`, `{"o":{}}`}},
	{"any value", `{"type":"object","properties":{"x":{},"y":true}}`, 0,
		[]string{`{"x":{"a":1},"y":"\"quoted\""}`, `{"x":null}`}},
	{"misfits", `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{}}},"s":{"type":"string"},"l":{"type":"array","items":{}},"e":{"enum":["a"]}}}`, 4,
		[]string{`{"o":[1],"s":{"a":1},"l":"x","e":"b"}`}},
	{"beyond a form", `{"type":"object","properties":{"d":{"$dynamicRef":"#d","$defs":{"d":{"$dynamicAnchor":"d"}}},"f":{"type":"object"},"both":{"allOf":[{"type":"string"},{"type":"number"}]}}}`, 3,
		[]string{`{"d":{"x":1},"f":{"a":{}},"both":1}`}},
}

func countJSON(p *form.Part) int {
	n := 0
	if p.Kind == form.JSON {
		n++
	}
	for _, part := range p.Parts {
		n += countJSON(part)
	}
	return n
}
