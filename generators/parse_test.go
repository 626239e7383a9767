package generators_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
)

// ParseSchema returns an error for schemas that refer to other documents or would take
// too long to process.
func TestParseSchemaErrors(t *testing.T) {
	doubling := func(keyword string) string {
		defs := []string{`"d0":{"type":"string"}`}
		for i := range 40 {
			defs = append(defs, fmt.Sprintf(`"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, keyword, i, i))
		}
		return `{"$ref":"#/$defs/d40","$defs":{` + strings.Join(defs, ",") + `}}`
	}
	tests := []struct{ name, schema, want string }{
		{"not JSON", `{`, "not a JSON Schema"},
		{"not a schema", `[]`, "not a JSON Schema"},
		{"null", `null`, "not a JSON Schema"},
		{"wrong keyword", `{"type":"text"}`, "not a JSON Schema"},
		{"wrong place", `{"properties":{"a":{"minLength":-1}}}`, "not a JSON Schema"},
		{"null property", `{"properties":{"a":null}}`, "not a JSON Schema"},
		{"broken pattern", `{"pattern":"("}`, "not a JSON Schema"},
		{"huge pattern", `{"pattern":"((a{999}){999}){999}"}`, "not a JSON Schema"},
		{"remote reference", `{"$ref":"https://example.org/schema.json"}`, "a reference to another document (https://example.org/schema.json) is not followed"},
		{"file", `{"$ref":"file:///etc/passwd"}`, "is not followed"},
		{"relative", `{"$ref":"other.json"}`, "is not followed"},
		{"by id", `{"$id":"https://example.org/a","$ref":"b"}`, "(https://example.org/b) is not followed"},
		{"remote dialect", `{"$schema":"https://example.org/dialect"}`, "is not followed"},
		{"nested remote", `{"properties":{"a":{"items":{"$ref":"http://[::1]/x#/y"}}}}`, "is not followed"},
		{"nowhere", `{"$ref":"#/$defs/nowhere"}`, "not a JSON Schema"},
		{"itself", `{"$ref":"#"}`, "refers to itself in a cycle"},
		{"in a circle", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}},"items":{"$ref":"#/$defs/a"}}`, "refers to itself in a cycle"},
		{"not itself", `{"not":{"$ref":"#"}}`, "refers to itself in a cycle"},
		{"doubling", doubling("allOf"), "references multiply too much"},
		{"doubling by choice", doubling("oneOf"), "references multiply too much"},
		{"deep", strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200), "nested more than 100 deep"},
		{"very deep", strings.Repeat(`[`, 500_000), "nested more than 100 deep"},
		{"many parts", `{"enum":[` + strings.Repeat(`[],`, 20_000) + `1]}`, "more than 10000 parts"},
		{"long", `{"title":"` + strings.Repeat("x", 1<<20) + `"}`, "at most 1048576 are accepted"},
		{"endless number", `{"minimum":1e999999}`, "not a JSON Schema"},
		{"endless choice", `{"enum":[1e-999999]}`, "must be a number of ordinary size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := generators.ParseSchema(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("parsing took %v", took)
			}
		})
	}
}

// ParseSchema accepts unusual schemas.
func TestParseSchemaAccepts(t *testing.T) {
	choices := make([]string, 4000)
	for i := range choices {
		choices[i] = fmt.Sprintf(`{"const":"v%d","title":"{[%d"}`, i, i)
	}
	tests := []struct{ name, schema, good, bad string }{
		{"true", `true`, `1`, ``},
		{"false", `false`, ``, `1`},
		{"draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"items":[{"$ref":"#/definitions/a"}],"dependencies":{"x":["y"]}}`, `["a"]`, `[1]`},
		{"2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"a":{"$anchor":"n","type":"string"}},"$ref":"#n"}`, `"a"`, `1`},
		{"an id", `{"$id":"https://example.org/a","$defs":{"b":{"$id":"b","type":"string"}},"$ref":"b"}`, `"a"`, `1`},
		{"a tree", `{"properties":{"next":{"$ref":"#"},"n":{"type":"integer"}},"required":["n"]}`, `{"n":1,"next":{"n":2}}`, `{"n":1,"next":{}}`},
		{"dynamic", `{"$dynamicAnchor":"t","properties":{"next":{"$dynamicRef":"#t"},"n":{"type":"integer"}}}`, `{"next":{"n":1}}`, `{"next":{"n":"x"}}`},
		{"many choices", `{"oneOf":[` + strings.Join(choices, ",") + `]}`, `"v3999"`, `"v4000"`},
		{"unknown words", `{"x-ui":{"$ref":5},"type":"string"}`, `"a"`, `1`},
		{"unknown format", `{"format":"int32"}`, `"a"`, ``},
		{"brackets in text", `{"title":"` + strings.Repeat(`{[\"`, 200) + `"}`, `1`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := generators.ParseSchema(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if tt.good != "" && s.Validate(json.RawMessage(tt.good)) != nil {
				t.Errorf("%s is rejected: %v", tt.good, s.Validate(json.RawMessage(tt.good)))
			}
			if tt.bad != "" && s.Validate(json.RawMessage(tt.bad)) == nil {
				t.Errorf("%s is accepted", tt.bad)
			}
			if raw, _ := s.MarshalJSON(); string(raw) != tt.schema {
				t.Error("the schema's text has changed")
			}
		})
	}
}

// ParseSchema doesn't retain the caller's buffer.
func TestParseSchemaCopiesText(t *testing.T) {
	buffer := []byte(`{"type":"string"}`)
	s, err := generators.ParseSchema(buffer)
	if err != nil {
		t.Fatal(err)
	}
	copy(buffer, `{"type":"object"}`)
	if raw, _ := s.MarshalJSON(); string(raw) != `{"type":"string"}` {
		t.Errorf("the schema became %s", raw)
	}
	again, err := generators.ParseSchema(json.RawMessage(`{"type":"string"}`))
	if err != nil || again.Validate(json.RawMessage(`"a"`)) != nil {
		t.Errorf("parsed again, it is a different schema (%v)", err)
	}
}
