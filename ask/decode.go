package ask

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Decode reads the fields of a posted HTML form into content for [Fields.Check].
// A blank field is left out, so that an optional one is missing and not empty;
// a missing checkbox is false; a local date and time is taken to be in zone
// (UTC if nil). What can't be read as its type is kept as text, for Check to
// refuse.
func (f Fields) Decode(values url.Values, zone *time.Location) json.RawMessage {
	content := make(map[string]any, len(f))
	for i := range f {
		if v, ok := f[i].decode(values[f[i].Name], zone); ok {
			content[f[i].Name] = v
		}
	}
	raw, err := json.Marshal(content)
	if err != nil { // a number literal of the wrong shape would be our fault
		return json.RawMessage("{}")
	}
	return raw
}

func (f *Field) decode(posted []string, zone *time.Location) (any, bool) {
	if f.Type == "array" {
		return f.decodeList(posted)
	}
	var text string
	if len(posted) > 0 {
		text = strings.ReplaceAll(posted[len(posted)-1], "\r\n", "\n")
	}
	if f.Type == "boolean" {
		return decodeBool(text)
	}
	switch {
	case text == "" && len(posted) > 0 && f.hasChoice(""):
		return "", true
	case text == "" || f.Format != FormatSecret && strings.TrimSpace(text) == "":
		return nil, false
	}
	switch {
	case f.Type == "number" || f.Type == "integer":
		return decodeNumber(strings.TrimSpace(text)), true
	case f.Type == "":
		return decodeJSON(text), true
	case f.Format == "date-time":
		return decodeDateTime(strings.TrimSpace(text), zone), true
	case f.Format == "date" || f.Format == "email" || f.Format == "uri" || f.Format == FormatTime:
		return strings.TrimSpace(text), true
	}
	return text, true
}

// decodeList drops repeated values. A list that may be left out and is empty is
// left out.
func (f *Field) decodeList(posted []string) (any, bool) {
	list := []string{}
	seen := make(map[string]bool, len(posted))
	for _, v := range posted {
		if !seen[v] && (v != "" || f.hasChoice("")) {
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

// numberPattern is what people type as a number, in parts: sign, whole part,
// fraction, exponent.
var numberPattern = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$`)

// decodeNumber keeps every digit of a number.
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

// decodeDateTime turns what a datetime-local input posts into RFC 3339.
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
