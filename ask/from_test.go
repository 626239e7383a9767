package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
)

// From takes roles and people with names, and the question has them in its JSON.
func TestFrom(t *testing.T) {
	many := make([]ask.Who, 33)
	for i := range many {
		many[i] = ask.Role("ops")
	}
	for name, tt := range map[string]struct {
		who  []ask.Who
		want string // in the error
	}{
		"nobody":       {nil, "name at least one role or person"},
		"no name":      {[]ask.Who{ask.Role("")}, "make each argument with ask.Role or ask.User"},
		"neither":      {[]ask.Who{{}}, "make each argument with ask.Role or ask.User"},
		"a line break": {[]ask.Who{ask.User("ada\nben")}, "control characters"},
		"long":         {[]ask.Who{ask.User(strings.Repeat("a", 257))}, "more than 256 bytes"},
		"too many":     {many, "more than 32"},
	} {
		if _, err := ask.ForConfirm("go", "Go?", ask.From(tt.who...)).Ask(nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	raw, err := json.Marshal(questionOf(t, ask.ForText("k", "m", ask.From(ask.Role("ops"), ask.User("ada")), ask.NotCaller())))
	if err != nil || !strings.Contains(string(raw), `"from":[{"role":"ops"},{"user":"ada"}],"notCaller":true`) {
		t.Errorf("%s, %v", raw, err)
	}
}
