package message

import "testing"

func TestPropertySchemasAreObjects(t *testing.T) {
	for in, want := range map[string]string{
		`{"properties":{"a":true,"b":{"properties":{"c":true}},"d":[true],"e": true},"uniqueItems":true}`: `{"properties":{"a":{},"b":{"properties":{"c":true}},"d":[true],"e": {}},"uniqueItems":true}`,
		`{"properties":{"a":{"default":true},"properties":true,"\"x":true},"additionalProperties":true}`:  `{"properties":{"a":{"default":true},"properties":{},"\"x":{}},"additionalProperties":true}`,
		`{"type":"object"}`: `{"type":"object"}`,
	} {
		if got := string(PropertiesAsObjects([]byte(in))); got != want {
			t.Errorf("PropertiesAsObjects(%s) = %s, want %s", in, got, want)
		}
	}
}
