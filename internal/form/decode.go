// Package form translates forms for the surfaces: the fields of a question as JSON
// Schema, as MCP's elicitation requests have it, values posted by an HTML form as
// content, and a tool's input schema as fields.
package form

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
)

// Decode returns the values of a posted HTML form as content for
// [askdata.Fields.Check]. It omits blank fields, so that an optional field is missing
// rather than empty. A missing checkbox is false. A local date and time is in
// zone, or in UTC if zone is nil. A value that doesn't parse as its field's type
// stays text, for Check to reject.
func Decode(fields askdata.Fields, values url.Values, zone *time.Location) json.RawMessage {
	content := make(map[string]any, len(fields))
	for i := range fields {
		f := &fields[i]
		if v, ok := decodeField(f, values[f.Name], zone); ok {
			content[f.Name] = v
		}
	}
	raw, err := json.Marshal(content)
	if err != nil { // decodeNumber returned an invalid literal
		return json.RawMessage("{}")
	}
	return raw
}

// decodeField reports false if the content should omit the field.
func decodeField(f *askdata.Field, posted []string, zone *time.Location) (any, bool) {
	if f.Type == "array" {
		return decodeList(f, posted)
	}
	var text string
	if len(posted) > 0 {
		text = strings.ReplaceAll(posted[len(posted)-1], "\r\n", "\n")
	}
	if f.Type == "boolean" {
		return decodeBool(text)
	}
	switch {
	case text == "" && len(posted) > 0 && hasChoice(f, ""):
		return "", true
	case text == "" || f.Format != askdata.FormatSecret && strings.TrimSpace(text) == "":
		return nil, false
	}
	switch {
	case f.Type == "number" || f.Type == "integer":
		return decodeNumber(strings.TrimSpace(text)), true
	case f.Type == "":
		return decodeJSON(text), true
	case f.Format == "date-time":
		return decodeDateTime(strings.TrimSpace(text), zone), true
	case f.Format == "date" || f.Format == "email" || f.Format == "uri" || f.Format == askdata.FormatTime:
		return strings.TrimSpace(text), true
	}
	return text, true
}

// decodeList drops repeated values. It omits an empty list that isn't required.
func decodeList(f *askdata.Field, posted []string) (any, bool) {
	list := []string{}
	seen := make(map[string]bool, len(posted))
	for _, v := range posted {
		if !seen[v] && (v != "" || hasChoice(f, "")) {
			list = append(list, v)
		}
		seen[v] = true
	}
	return list, len(list) > 0 || f.Required
}

func decodeBool(text string) (any, bool) {
	switch text {
	case "on", "true":
		return true, true
	case "", "off", "false":
		return false, true
	}
	return text, true
}

func hasChoice(f *askdata.Field, value string) bool {
	return slices.ContainsFunc(f.Choices, func(c askdata.Choice) bool { return c.Value == value })
}

// numberPattern matches what people type as a number. Its groups are the sign,
// whole part, fraction and exponent.
var numberPattern = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$`)

// decodeNumber returns a json.Number with every digit of text, or text itself if
// it is not a number.
func decodeNumber(text string) any {
	m := numberPattern.FindStringSubmatch(text)
	if m == nil || m[2]+m[3] == "" {
		return text
	}
	literal := strings.TrimPrefix(m[1], "+") + cmp.Or(strings.TrimLeft(m[2], "0"), "0")
	if m[3] != "" {
		literal += "." + m[3]
	}
	return json.Number(literal + m[4])
}

func decodeJSON(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// decodeDateTime converts the value of a datetime-local input to RFC 3339.
func decodeDateTime(text string, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return text
}
