package engine

import (
	"encoding/json"
	"testing"
)

// Secrets are masked in the strings of a JSON value, which stays valid and keeps its names.
func TestMaskJSON(t *testing.T) {
	w := &worker{secrets: []secret{{1, spellingsOf(`pass"word`)}, {2, spellingsOf("1234")}}}
	for raw, want := range map[string]string{
		`"pass\"word"`:                       `"••••"`,
		`"pass\u0022word!"`:                  `"••••!"`,
		`{"a":"x pass\"word","n":12345}`:     `{"a":"x ••••","n":12345}`,
		`{"1234" : 1, "b":["1234",null]}`:    `{"1234" : 1, "b":["••••",null]}`,
		`"{\"nested\":\"pass\\\"word\"}"`:    `"{\"nested\":\"••••\"}"`,
		`{"a":"nothing","b":"\\\"","c":1.5}`: `{"a":"nothing","b":"\\\"","c":1.5}`,
		`"unterminated \`:                    `"unterminated \`,
	} {
		if got := string(w.maskJSON(json.RawMessage(raw))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
}
