package portability

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":true}}`:                                      "inputSchema.properties.a: is a bare true",
		`{"type":"object","properties":{"a":{"title":"A"}}}`:                             "inputSchema.properties.a: has no rule",
		`{"type":"object","properties":{"a":{"type":"array","items":true}}}`:             "inputSchema.properties.a.items: is a bare true",
		`{"type":["object","null"]}`:                                                     "inputSchema: lists types",
		`{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}`:     "inputSchema.properties.a: refers to another document",
		`{"anyOf":[{"type":"object"},{}]}`:                                               "inputSchema.anyOf.1: has no rule",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"enum":[1]}}}`: "",
		`{"type":"object","additionalProperties":{"type":["string","null"]}}`:            "inputSchema.additionalProperties: lists types",
		`{"type":"object","$defs":{"a":{}},"properties":{"b":{"$ref":"#/$defs/a"}}}`:     "inputSchema.$defs.a: has no rule",
	} {
		var tree any
		if err := json.Unmarshal([]byte(schema), &tree); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Lint("inputSchema", tree), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", schema, got, want)
		}
	}
}
