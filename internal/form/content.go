package form

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// Content returns the JSON of what is filled in. It omits optional values that aren't.
// Text that isn't of its field's type stays text, for the schema to reject.
func (p *Part) Content() json.RawMessage {
	if v := p.value(); v != nil {
		return v
	}
	return json.RawMessage("{}")
}

// Indent returns JSON in lines, for people.
func Indent(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// value returns the part's value, or nil if it is omitted.
func (p *Part) value() json.RawMessage {
	switch p.Kind {
	case Control:
		return p.controlValue()
	case JSON:
		return p.jsonValue()
	case Group:
		if !p.Present && !p.Required && !p.Row || !p.Present && p.nullable && p.Input != "" {
			return p.blank()
		}
		return p.object()
	case Map:
		if len(p.Parts) == 0 && !p.Present && !p.Required && !p.Row {
			return nil
		}
		return p.object()
	case List:
		return p.listValue()
	case Choice:
		if len(p.Parts) > 0 {
			return p.Parts[0].value()
		}
	}
	return p.blank()
}

// blank returns the value of a part in which nothing is filled in.
func (p *Part) blank() json.RawMessage {
	isText := p.Kind == Control && p.Type == "string" && len(p.Choices) == 0
	switch {
	case p.nullable && (p.Required || p.Present || p.Row):
		return json.RawMessage("null")
	case isText && (p.Present || p.Row):
		return json.RawMessage(`""`)
	case p.Kind == Control && p.Type == "boolean" && (p.Present || p.Row || p.Required):
		return json.RawMessage("false")
	case p.Row:
		return json.RawMessage("null")
	}
	return nil
}

func (p *Part) controlValue() json.RawMessage {
	if p.Type == "boolean" && strings.Join(p.Values, "") == "" {
		return p.blank()
	}
	if p.jsonChoices {
		for _, c := range p.Choices {
			if len(p.Values) > 0 && p.Values[len(p.Values)-1] == c.Value {
				return json.RawMessage(c.Value)
			}
		}
		return p.blank()
	}
	if p.Type == "array" && len(p.Values) == 0 && (p.Present || p.Row) && !p.nullable {
		return json.RawMessage("[]")
	}
	values := p.Values
	if p.Encoded {
		values = []string{strings.Join(strings.Fields(strings.Join(values, "")), "")}
	}
	v, ok := decodeField(&p.Field, values, p.zone)
	if !ok {
		return p.blank()
	}
	raw, err := json.Marshal(v)
	if err != nil { // decodeNumber returned an invalid literal
		return p.blank()
	}
	return raw
}

func (p *Part) jsonValue() json.RawMessage {
	text := ""
	if len(p.Values) > 0 {
		text = strings.TrimSpace(p.Values[len(p.Values)-1])
	}
	switch {
	case text == "":
		return p.blank()
	case json.Valid([]byte(text)):
		return rawjson.Compact(json.RawMessage(text))
	}
	return rawjson.EncodeText(text)
}

func (p *Part) object() json.RawMessage {
	out := []byte{'{'}
	for _, part := range p.Parts {
		if part.IsOthers() {
			rawjson.EachMember(part.value(), func(name []byte, v json.RawMessage) { out = appendMember(out, string(name), v) })
		} else if v := part.value(); v != nil {
			out = appendMember(out, part.token, v)
		}
	}
	return append(out, '}')
}

// appendMember appends a member to the text of an object that begins with {.
func appendMember(object []byte, name string, value json.RawMessage) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object = append(rawjson.AppendText(object, name), ':')
	return append(object, value...)
}

func (p *Part) listValue() json.RawMessage {
	if len(p.Parts) == 0 && !p.Present && !p.Row {
		if p.Required && !p.nullable {
			return json.RawMessage("[]")
		}
		return p.blank()
	}
	out := []byte{'['}
	for i, part := range p.Parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, part.value()...)
	}
	return append(out, ']')
}

// maxProblems is how many errors Problems returns.
const maxProblems = 100

// Problems returns errors in what is filled in that the schema doesn't see: text that
// isn't JSON, and rows with the same name.
func (p *Part) Problems() []generators.FieldError {
	var list []generators.FieldError
	switch p.Kind {
	case JSON:
		if message := syntaxError(strings.Join(p.Values, "")); message != "" {
			list = append(list, generators.FieldError{Path: p.Pointer, Message: message, Rule: rule.JSON})
		}
	case Map:
		seen := map[string]bool{}
		for _, row := range p.Parts {
			if seen[row.token] {
				list = append(list, generators.FieldError{Path: row.Pointer, Message: "is there twice; each name must differ", Rule: rule.UniqueItems})
			}
			seen[row.token] = true
		}
	}
	for _, part := range p.Parts {
		if list = append(list, part.Problems()...); len(list) > maxProblems {
			return list[:maxProblems]
		}
	}
	return list
}

// syntaxError says what is wrong with JSON text; empty if nothing is.
func syntaxError(text string) string {
	if strings.TrimSpace(text) == "" || json.Valid([]byte(text)) {
		return ""
	}
	var v any
	err := json.Unmarshal([]byte(text), &v)
	if syntax, ok := err.(*json.SyntaxError); ok {
		return "must be JSON; line " + lineAt(text, int(syntax.Offset)) + ": " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return "must be JSON"
}
