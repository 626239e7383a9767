// Package rawjson reads and writes JSON values without decoding them into maps.
// An answer is read several times on its way from a surface to the generator;
// reading its members this way costs a tenth of decoding it.
package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// EachMember calls each with the name and the value of every member of a JSON
// object, in their order. The object must be valid JSON; for anything else, the
// calls are unspecified, but EachMember returns.
func EachMember(object json.RawMessage, each func(name []byte, value json.RawMessage)) {
	i := skipSpace(object, 0) + 1 // {
	for {
		i = skipSpace(object, i)
		if i >= len(object) || object[i] == '}' {
			return
		}
		if object[i] == ',' {
			i++
			continue
		}
		end := max(skipValue(object, i), i+1)
		name := object[i:end]
		if IsPlainText(name) {
			name = name[1 : len(name)-1]
		} else {
			text, _ := DecodeText(name)
			name = []byte(text)
		}
		i = skipSpace(object, skipSpace(object, end)+1) // :
		if i >= len(object) {
			return
		}
		end = max(skipValue(object, i), i+1)
		each(name, object[i:end])
		i = end
	}
}

// Member returns the last member of that name of a JSON object, or nil if there is
// none.
func Member(object json.RawMessage, name string) json.RawMessage {
	var found json.RawMessage
	EachMember(object, func(n []byte, value json.RawMessage) {
		if string(n) == name {
			found = value
		}
	})
	return found
}

// MapMembers returns a JSON object whose members have the values that change returns, without
// those for which that is nil. The object must be valid JSON.
func MapMembers(object json.RawMessage, change func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	EachMember(object, func(name []byte, value json.RawMessage) {
		if value = change(string(name), value); value != nil {
			out = AppendMember(out, string(name), value)
		}
	})
	return append(out, '}')
}

// AppendMember appends a member to a JSON object that is being written.
func AppendMember(object []byte, name string, value json.RawMessage) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(AppendText(object, name), ':'), value...)
}

// MapTexts returns a JSON value in which change was applied to each text: of members' names,
// too, if names is true. What it doesn't change stays as it is written; raw itself isn't
// changed. For what isn't valid JSON, the calls are unspecified, but MapTexts returns.
func MapTexts(raw json.RawMessage, names bool, change func(string) string) json.RawMessage {
	var out json.RawMessage // nil until something is changed
	copied := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := skipValue(raw, i)
		after := skipSpace(raw, end)
		if names || after == len(raw) || raw[after] != ':' {
			text, _ := DecodeText(raw[i:end])
			if changed := change(text); changed != text {
				out = append(append(out, raw[copied:i]...), EncodeText(changed)...)
				copied = end
			}
		}
		i = end - 1
	}
	if copied == 0 {
		return raw
	}
	return append(out, raw[copied:]...)
}

// Depth returns how many objects and lists of a value are inside one another at most. The
// value must be valid JSON.
func Depth(raw json.RawMessage) (deepest int) {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipValue(raw, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the index after the value that begins at i.
func skipValue(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(raw))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // the end of a number, true, false or null
				return i
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(raw)
}

// DecodeText returns the text of a JSON string. It reports plain if raw is
// already in the form that [AppendText] writes.
func DecodeText(raw json.RawMessage) (text string, plain bool) {
	if IsPlainText(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	_ = json.Unmarshal(raw, &text) // the caller passes a string
	return strings.ToValidUTF8(text, "\ufffd"), false
}

// IsPlainText reports whether raw is a JSON string of printable ASCII characters
// none of which needs escaping.
func IsPlainText(raw json.RawMessage) bool {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c < ' ' || c > '~' || c == '\\' || c == '"' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// The names of the JSON types in messages to people.
const (
	TextType   = "text"
	NumberType = "a number"
	BoolType   = "true or false"
	ListType   = "a list"
	ObjectType = "an object"
)

// TypeName returns the name of a value's type for messages to people. Missing
// JSON counts as null.
func TypeName(raw json.RawMessage) string { return NameOfType(SchemaType(raw)) }

// SchemaType returns a value's type as JSON Schema calls it; that of a number is number.
// Missing JSON counts as null.
func SchemaType(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case '[':
		return "array"
	case '{':
		return "object"
	case 'n':
		return "null"
	}
	return "number"
}

// NameOfType returns the name for people of a type of JSON Schema.
func NameOfType(t string) string {
	switch t {
	case "string":
		return TextType
	case "number":
		return NumberType
	case "integer":
		return "a whole number"
	case "boolean":
		return BoolType
	case "array":
		return ListType
	case "object":
		return ObjectType
	}
	return t
}

// EncodeText returns s as a JSON string.
func EncodeText(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // encoding/json encodes every string
	}
	return raw
}

// AppendText appends s to the buffer as a JSON string. It is fast if no character
// of s needs escaping.
func AppendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(dst, EncodeText(s)...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// Compact returns raw without insignificant white space, or raw itself if it is
// not valid JSON.
func Compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// EachElement calls each with every element of a JSON list, in their order, until it returns
// false. The list must be valid JSON; for anything else, the calls are unspecified, but
// EachElement returns.
func EachElement(list json.RawMessage, each func(value json.RawMessage) bool) {
	i := skipSpace(list, 0) + 1 // [
	for {
		i = skipSpace(list, i)
		if i >= len(list) || list[i] == ']' {
			return
		}
		if list[i] == ',' {
			i++
			continue
		}
		end := max(skipValue(list, i), i+1)
		if !each(list[i:end]) {
			return
		}
		i = end
	}
}

// IsOrdinaryNumber reports whether n has no more digits than a float64 can have.
func IsOrdinaryNumber(n string) bool {
	const digits, exponent = 400, 330
	if len(n) > digits {
		return false
	}
	e := strings.IndexAny(n, "eE")
	if e < 0 {
		return true
	}
	size, err := strconv.Atoi(n[e+1:])
	return err == nil && -exponent < size && size < exponent
}
