package generators_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// FuzzCheckSchema checks any value against any schema. Check must not panic or hang.
// What it returns must conform to the schema and be returned unchanged the second
// time. Its errors must be about fields.
func FuzzCheckSchema(f *testing.F) {
	f.Add(orderSchema, `{"id":"ab","items":[{"sku":"a"}],"count":4.0}`)
	f.Add(orderSchema, `{"id":1,"items":[{"sku":"a"},{"n":0}],"tags":["a","a"]}`)
	f.Add(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `1`)
	f.Add(`{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":false}`, `{"a":{"a":{}}}`)
	f.Add(`{"patternProperties":{"^a":{"default":1}},"dependentRequired":{"a":["b"]},"if":true,"then":{"minProperties":1}}`, `{}`)
	f.Add(`{"properties":{"a":{"default":1e2}},"contains":{"const":4.0},"prefixItems":[{"type":["integer","null"]}]}`, `{"b":1E-320}`)
	f.Add(`{"multipleOf":1e-300}`, `1e300`)
	f.Add(`{"type":"string","pattern":"^(a+)+$","format":"date-time"}`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := generators.ParseSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		checked, err := s.Check(json.RawMessage(value))
		if err != nil {
			var invalid *generators.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Fields) == 0 {
				t.Fatalf("%s rejects %s with a %T: %v", schema, value, err, err)
			}
			for _, field := range invalid.Fields {
				if field.Message == "" || !utf8.ValidString(field.Message) && utf8.ValidString(schema+value) {
					t.Fatalf("%s rejects %s with %+v", schema, value, field)
				}
			}
			return
		}
		if err := s.Validate(checked); err != nil {
			t.Fatalf("%s: %s became %s, which doesn't conform: %v", schema, value, checked, err)
		}
		again, err := s.Check(checked)
		if err != nil || string(again) != string(checked) {
			t.Fatalf("%s: %s became %s and then %s (%v)", schema, value, checked, again, err)
		}
	})
}

// FuzzDecode decodes, encodes and decodes any recorded event, after which it must be
// the same. An event of an unknown kind must keep its kind and data.
func FuzzDecode(f *testing.F) {
	f.Add("status", `{"level":"info","text":"a"}`)
	f.Add("log", `{"level":"x","data":{"n":1e400,"a":[1,null]}}`)
	f.Add("progress", `{"done":1e-5,"total":3}`)
	f.Add("artifact", `{"title":"a","mediaType":"b","body":"AAAA","size":-1}`)
	f.Add("stepped", `{"key":"a","value":{"a":1}}`)
	f.Add("result", `{"value":[1]}`)
	f.Add("map", `{"lat":1}`)
	f.Fuzz(func(t *testing.T, kind, data string) {
		e, err := driver.Decode(kind, json.RawMessage(data))
		if err != nil {
			return
		}
		if u, ok := e.(*driver.UnknownEvent); ok {
			if u.Kind != kind || string(u.Data) != data {
				t.Fatalf("%s %s became %s %s", kind, data, u.Kind, u.Data)
			}
			return
		}
		_, first, err := driver.Encode(e)
		if err != nil {
			t.Fatalf("%s %s: %v", kind, data, err)
		}
		e, err = driver.Decode(kind, first)
		if err != nil {
			t.Fatalf("%s %s: %v", kind, first, err)
		}
		if _, second, err := driver.Encode(e); err != nil || string(second) != string(first) {
			t.Fatalf("%s: %s became %s (%v)", kind, first, second, err)
		}
	})
}
