package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/rawjson"
)

// schema20250618 is a property as MCP 2025-06-18 allows it in elicitation/create
// (PrimitiveSchemaDefinition).
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

// RequestedSchema20250618 returns the schema of a form within the subset that MCP
// 2025-06-18 allows in elicitation/create; [RequestedSchema] is for later
// versions. The subset has no multiple choice: each choice becomes a boolean
// property, and [ContentFrom20250618] collects them into the list again. Only
// booleans have defaults: the descriptions state other defaults, and the rules
// that Beam enforces beyond the subset.
func RequestedSchema20250618(fields askdata.Fields) json.RawMessage {
	var w objectWriter
	choices := choiceProperties(fields)
	for i := range fields {
		f := &fields[i]
		if f.Type != "array" {
			w.addProperty(f.Name, fieldSchema20250618(f), f.Required)
			continue
		}
		for n, name := range choices[i] {
			w.addProperty(name, choiceSchema20250618(f, n), false)
		}
	}
	return w.finish()
}

// ContentFrom20250618 converts content that fits [RequestedSchema20250618] to
// content of the form itself, for [askdata.Question.Check]. The choices that are true
// become their field's list, in the form's order; an empty list that isn't
// required is omitted. Members that the form doesn't have are dropped. The error
// is a [*generators.InvalidError].
func ContentFrom20250618(fields askdata.Fields, content json.RawMessage) (json.RawMessage, error) {
	choices := choiceProperties(fields)
	var booleans askdata.Fields
	for i := range fields {
		for _, name := range choices[i] {
			booleans = append(booleans, askdata.Field{Name: name, Type: "boolean"})
		}
	}
	if _, err := booleans.Check(content); err != nil {
		return nil, err
	}
	values := make(map[string]json.RawMessage)
	rawjson.EachMember(content, func(name []byte, value json.RawMessage) { values[string(name)] = value })
	out := []byte{'{'}
	for i := range fields {
		f := &fields[i]
		value := values[f.Name]
		if f.Type == "array" {
			value = chosenValues(f, choices[i], values)
		}
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendText(out, f.Name), ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// choiceProperties returns, by the index of each multiple choice, the names of the
// properties for its choices: FIELD.VALUE, followed by underscores if something
// else has that name.
func choiceProperties(fields askdata.Fields) map[int][]string {
	taken := make(map[string]bool, len(fields))
	for i := range fields {
		taken[fields[i].Name] = true
	}
	names := make(map[int][]string)
	for i := range fields {
		if fields[i].Type != "array" {
			continue
		}
		for _, choice := range fields[i].Choices {
			name := strings.ToValidUTF8(fields[i].Name+"."+choice.Value, "\ufffd")
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			names[i] = append(names[i], name)
		}
	}
	return names
}

// chosenValues returns the list of the choices that are true, or nil if the
// content should omit the list.
func chosenValues(f *askdata.Field, names []string, values map[string]json.RawMessage) json.RawMessage {
	chosen := []string{}
	for n, name := range names {
		if string(bytes.TrimSpace(values[name])) == "true" {
			chosen = append(chosen, f.Choices[n].Value)
		}
	}
	if len(chosen) == 0 && !f.Required {
		return nil
	}
	return mustMarshal(chosen)
}

// fieldSchema20250618 returns the schema of a field that is not a multiple choice.
func fieldSchema20250618(f *askdata.Field) schema20250618 {
	s := schema20250618{Type: f.Type, Title: f.Title, Description: describeRules(f)}
	switch {
	case f.Type == "boolean":
		s.Default = f.Default
		return s
	case f.Type == "number" || f.Type == "integer":
		s.Minimum, s.Maximum = f.Minimum, f.Maximum
	case len(f.Choices) > 0:
		for _, c := range f.Choices {
			s.Enum = append(s.Enum, c.Value)
			if hasTitledChoices(f) {
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
	if text := describeDefault(f); text != "" {
		s.Description = joinSentences(s.Description, "Default: "+text)
	}
	return s
}

// choiceSchema20250618 returns the schema of the nth choice of a multiple choice.
// The first one describes the whole field too.
func choiceSchema20250618(f *askdata.Field, n int) schema20250618 {
	choice := f.Choices[n]
	s := schema20250618{Type: "boolean", Title: choice.Label(), Description: fmt.Sprintf("A choice for “%s”.", f.Label())}
	if n == 0 {
		s.Description = joinSentences(s.Description, describeRules(f))
		s.Description = joinSentences(s.Description, describeItemBounds(f))
	}
	var chosen []string
	if json.Unmarshal(f.Default, &chosen) == nil && slices.Contains(chosen, choice.Value) {
		s.Default = json.RawMessage("true")
	}
	return s
}

// describeItemBounds states how many choices to choose.
func describeItemBounds(f *askdata.Field) string {
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

// describeDefault returns the default as people read it. It adds no period, which
// could be mistaken for a part of the value.
func describeDefault(f *askdata.Field) string {
	if f.Default == nil || f.Format == askdata.FormatSecret {
		return ""
	}
	var text string
	if json.Unmarshal(f.Default, &text) != nil {
		return string(rawjson.Compact(f.Default))
	}
	for _, c := range f.Choices {
		if c.Value == text {
			return c.Label()
		}
	}
	return text
}

// joinSentences joins two texts, either of which may be empty.
func joinSentences(before, after string) string {
	switch {
	case before == "":
		return after
	case after == "":
		return before
	}
	return endSentence(before) + " " + after
}
