package policy

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/internal/cleantext"
)

// Texts returns what was accepted and what the upstream has now, line by line, for a
// person to compare.
func (c *Change) Texts() (before, now string) {
	return describeDefinition(c.Old), describeDefinition(c.New)
}

// describeDefinition returns what is pinned of a tool as text: what it says in words
// first, as it is written, then the schemas as indented JSON.
func describeDefinition(raw json.RawMessage) string {
	if raw == nil {
		return "(too large to show)\n"
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // digestTool has made it
	var b strings.Builder
	for _, name := range pinnedMembers {
		value, ok := members[name]
		if !ok {
			continue
		}
		b.WriteString(name + ":\n")
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = indentJSON(value)
		}
		for line := range strings.Lines(strings.TrimRight(cleantext.Text(text), "\n") + "\n") {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

// indentJSON returns a value as every value of its content looks: with sorted members,
// and without escapes that aren't needed.
func indentJSON(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if d.Decode(&value) != nil || e.Encode(value) != nil {
		return string(raw)
	}
	return b.String()
}
