package ask

import (
	"bytes"
	"encoding/json"
	"strings"
)

// eachMember calls each with the properties of a JSON object, in their order. Of
// what is no valid JSON it makes something or other. An answer is read several
// times on its way; this costs a tenth of decoding it into a map.
func eachMember(object json.RawMessage, each func(name []byte, value json.RawMessage)) {
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
		if isPlainText(name) {
			name = name[1 : len(name)-1]
		} else {
			text, _ := decodeText(name)
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

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns where the value ends that begins at i.
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

// decodeText reads a JSON string. Plain tells that its JSON is as this package
// writes it.
func decodeText(raw json.RawMessage) (text string, plain bool) {
	if isPlainText(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	_ = json.Unmarshal(raw, &text) // a string, as a rule
	return strings.ToValidUTF8(text, "\ufffd"), false
}

func isPlainText(raw json.RawMessage) bool {
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

// What the types of JSON are called.
const (
	textType   = "text"
	numberType = "a number"
	boolType   = "true or false"
	listType   = "a list"
	objectType = "an object"
)

func jsonTypeName(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '"':
		return textType
	case 't', 'f':
		return boolType
	case '[':
		return listType
	case '{':
		return objectType
	case 'n':
		return "null"
	}
	return numberType
}

// encodeText is the JSON of a text.
func encodeText(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return raw
}

// appendText is encode for what needs no escaping, as a rule.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(to, encodeText(s)...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
