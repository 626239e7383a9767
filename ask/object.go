package ask

import (
	"encoding/json"
	"strings"
)

// members calls each with the properties of a JSON object that is known to be
// valid, in their order. An answer is read several times on its way; this costs
// a tenth of decoding it into a map.
func members(object json.RawMessage, each func(name string, value json.RawMessage)) {
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
		end := skipValue(object, i)
		name, _ := decodeText(object[i:end])
		i = skipSpace(object, skipSpace(object, end)+1) // :
		end = skipValue(object, i)
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
				return i + 1
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
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	_ = json.Unmarshal(raw, &text) // known to be valid
	return strings.ToValidUTF8(text, "\ufffd"), false
}

func isPlain(raw json.RawMessage) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
