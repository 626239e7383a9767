package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
)

// schema20250618 is what MCP 2025-06-18 allows of a property in
// elicitation/create (PrimitiveSchemaDefinition).
type schema20250618 struct {
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	EnumNames   []string `json:"enumNames,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	MaxLength   int      `json:"maxLength,omitempty"`
	Format      string   `json:"format,omitempty"`
	// Default is for booleans only.
	Default json.RawMessage `json:"default,omitempty"`
}

// RequestedSchema20250618 is the form within the subset that MCP 2025-06-18 allows
// in elicitation/create; [Fields.RequestedSchema] is that of later versions.
// It has no multiple choice: such a field becomes a boolean property a choice,
// which [Fields.ContentFrom20250618] folds back into the list. It has no defaults but of
// booleans: others are said in the description, and so is what Beam enforces
// beyond any version of MCP.
func (f Fields) RequestedSchema20250618() json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	first := true
	property := func(name string, s schema20250618) {
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(mustMarshal(name))
		b.WriteByte(':')
		b.Write(mustMarshal(s))
	}
	ticks := f.choiceProperties()
	for i := range f {
		field := &f[i]
		if field.Type == "array" {
			for n, name := range ticks[i] {
				property(name, field.choiceSchema20250618(n))
			}
			continue
		}
		property(field.Name, field.schema20250618())
		if field.Required {
			required = append(required, field.Name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		b.WriteString(`,"required":`)
		b.Write(mustMarshal(required))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// ContentFrom20250618 makes of an answer to [Fields.RequestedSchema20250618] one to the form
// itself, for [Question.Check]: the choices that are true become the list of
// their field, in the form's order. If none is, a field that may be left out
// is. Properties that the form has not are dropped. The error is a
// [*generators.InvalidError].
func (f Fields) ContentFrom20250618(content json.RawMessage) (json.RawMessage, error) {
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	if !json.Valid(content) || jsonTypeName(content) != objectType {
		return nil, notObjectError(content)
	}
	values := make(map[string]json.RawMessage)
	eachMember(content, func(name []byte, value json.RawMessage) { values[string(name)] = value })
	ticks := f.choiceProperties()
	c := checker{}
	out := []byte{'{'}
	for i := range f {
		field := &f[i]
		value := values[field.Name]
		if field.Type == "array" {
			value = c.chosenValues(field, ticks[i], values)
		}
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, field.Name), ':')
		out = append(out, value...)
	}
	if len(c.errs) > 0 {
		return nil, &generators.InvalidError{Fields: c.errs}
	}
	return append(out, '}'), nil
}

// choiceProperties names the properties that stand for the choices of each multiple
// choice, by the field's index: FIELD.VALUE, with underscores after it if
// something else has that name.
func (f Fields) choiceProperties() map[int][]string {
	taken := make(map[string]bool, len(f))
	for i := range f {
		taken[f[i].Name] = true
	}
	ticks := make(map[int][]string)
	for i := range f {
		if f[i].Type != "array" {
			continue
		}
		for _, choice := range f[i].Choices {
			name := string(validUTF8(f[i].Name + "." + choice.Value))
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			ticks[i] = append(ticks[i], name)
		}
	}
	return ticks
}

// chosenValues is the list of the choices that are true; nil if it is left out.
func (c *checker) chosenValues(f *Field, names []string, values map[string]json.RawMessage) json.RawMessage {
	list := []string{}
	for n, name := range names {
		c.path = name
		switch value := values[name]; {
		case value == nil:
		case jsonTypeName(value) != boolType:
			c.addError("must be %s, not %s", boolType, jsonTypeName(value))
		case string(bytes.TrimSpace(value)) == "true":
			list = append(list, f.Choices[n].Value)
		}
	}
	if len(list) == 0 && !f.Required {
		return nil
	}
	return mustMarshal(list)
}

// schema20250618 is the schema of a field that is no multiple choice.
func (f *Field) schema20250618() schema20250618 {
	s := schema20250618{Type: f.Type, Title: f.Title, Description: f.describeRules()}
	switch {
	case f.Type == "boolean":
		s.Default = f.Default
		return s
	case f.Type == "number" || f.Type == "integer":
		s.Minimum, s.Maximum = f.Minimum, f.Maximum
	case len(f.Choices) > 0:
		for _, c := range f.Choices {
			s.Enum = append(s.Enum, c.Value)
			if f.hasTitledChoices() {
				s.EnumNames = append(s.EnumNames, c.Label())
			}
		}
	default:
		s.MinLength, s.MaxLength = f.MinLength, f.MaxLength
		switch f.Format {
		case "email", "uri", "date", "date-time":
			s.Format = f.Format
		}
	}
	if said := f.describeDefault(); said != "" {
		s.Description = sentences(s.Description, "Default: "+said)
	}
	return s
}

// choiceSchema20250618 is the schema of the nth choice of a multiple choice. What is said
// of the whole field stands with the first.
func (f *Field) choiceSchema20250618(n int) schema20250618 {
	choice := f.Choices[n]
	s := schema20250618{Type: "boolean", Title: choice.Label(), Description: fmt.Sprintf("A choice for “%s”.", f.Label())}
	if n == 0 {
		s.Description = sentences(s.Description, f.describeRules())
		s.Description = sentences(s.Description, f.describeItemBounds())
	}
	var chosen []string
	if json.Unmarshal(f.Default, &chosen) == nil && slices.Contains(chosen, choice.Value) {
		s.Default = json.RawMessage("true")
	}
	return s
}

// describeItemBounds says how many choices may be taken.
func (f *Field) describeItemBounds() string {
	switch least, most := f.MinItems, f.MaxItems; {
	case least > 0 && most > 0 && least == most:
		return fmt.Sprintf("Choose %d.", least)
	case least > 0 && most > 0:
		return fmt.Sprintf("Choose %d to %d.", least, most)
	case least > 0:
		return fmt.Sprintf("Choose at least %d.", least)
	case most > 0:
		return fmt.Sprintf("Choose at most %d.", most)
	}
	return ""
}

// describeDefault is a default as people read it; it ends no sentence, since
// what ends one could be taken for a part of it.
func (f *Field) describeDefault() string {
	if f.Default == nil || f.Format == FormatSecret {
		return ""
	}
	var text string
	if json.Unmarshal(f.Default, &text) != nil {
		return string(compact(f.Default))
	}
	for _, c := range f.Choices {
		if c.Value == text {
			return c.Label()
		}
	}
	return text
}

// sentences joins two texts of which either may be empty.
func sentences(before, after string) string {
	switch {
	case before == "":
		return after
	case after == "":
		return before
	}
	return endSentence(before) + " " + after
}

// validUTF8 is a text as JSON will have it.
func validUTF8(s string) []byte { return bytes.ToValidUTF8([]byte(s), []byte("\ufffd")) }
