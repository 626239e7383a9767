package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/humanize"
)

// Schema returns the JSON Schema of a form, with every rule that JSON Schema can
// express.
func Schema(fields askdata.Fields) json.RawMessage {
	return objectSchema(fields, fieldSchemaOf)
}

// RequestedSchema returns the schema of a form within the subset that MCP allows
// in elicitation/create (2025-11-25). The descriptions state the rules that Beam
// enforces beyond the subset: patterns, steps and date bounds.
func RequestedSchema(fields askdata.Fields) json.RawMessage {
	return objectSchema(fields, func(f *askdata.Field) fieldSchema {
		s := fieldSchemaOf(f)
		s.Description = describeRules(f)
		s.Pattern, s.MultipleOf, s.UniqueItems = "", nil, false
		return s
	})
}

func objectSchema(fields askdata.Fields, schemaOf func(*askdata.Field) fieldSchema) json.RawMessage {
	var w objectWriter
	for i := range fields {
		f := &fields[i]
		w.addProperty(f.Name, schemaOf(f), f.Required)
	}
	return w.finish()
}

// objectWriter writes the schema of an object. It keeps the order of the
// properties, which a map would lose.
type objectWriter struct {
	properties bytes.Buffer
	required   []string
}

func (w *objectWriter) addProperty(name string, schema any, required bool) {
	if w.properties.Len() > 0 {
		w.properties.WriteByte(',')
	}
	w.properties.Write(mustMarshal(name))
	w.properties.WriteByte(':')
	w.properties.Write(mustMarshal(schema))
	if required {
		w.required = append(w.required, name)
	}
}

func (w *objectWriter) finish() json.RawMessage {
	raw := append([]byte(`{"type":"object","properties":{`), w.properties.Bytes()...)
	raw = append(raw, '}')
	if w.required != nil {
		raw = append(append(raw, `,"required":`...), mustMarshal(w.required)...)
	}
	return append(raw, '}')
}

func mustMarshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("form: encoding a schema: %v", err)) // a Default that is not valid JSON
	}
	return raw
}

// fieldSchema is the JSON Schema of a field.
type fieldSchema struct {
	Type        string          `json:"type,omitempty"`
	Items       *fieldSchema    `json:"items,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	EnumNames   []string        `json:"enumNames,omitempty"`
	MultipleOf  *float64        `json:"multipleOf,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	MinLength   int             `json:"minLength,omitempty"`
	MaxLength   int             `json:"maxLength,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	MinItems    int             `json:"minItems,omitempty"`
	MaxItems    int             `json:"maxItems,omitempty"`
	UniqueItems bool            `json:"uniqueItems,omitempty"`
	AnyOf       []titledChoice  `json:"anyOf,omitempty"`
	OneOf       []titledChoice  `json:"oneOf,omitempty"`
	Format      string          `json:"format,omitempty"`
}

// titledChoice is MCP's form of a choice that has a title (SEP-1330).
type titledChoice struct {
	Title string `json:"title"`
	Const string `json:"const"`
}

func fieldSchemaOf(f *askdata.Field) fieldSchema {
	s := fieldSchema{Type: f.Type, Title: f.Title, Description: f.Description, Default: f.Default}
	switch {
	case f.Type == "number" || f.Type == "integer":
		s.Minimum, s.Maximum, s.MultipleOf = f.Minimum, f.Maximum, f.Step
	case f.Type == "array":
		s.MinItems, s.MaxItems, s.UniqueItems = f.MinItems, f.MaxItems, true
		s.setChoices(f)
	case f.Type == "string" && len(f.Choices) > 0:
		s.setChoices(f)
	case f.Type == "string":
		s.MinLength, s.MaxLength, s.Pattern = f.MinLength, f.MaxLength, patternOf(f)
		switch f.Format {
		case "email", "uri", "date", "date-time":
			s.Format = f.Format
		}
	}
	return s
}

// setChoices writes plain choices as enum, titled choices as oneOf, and titled
// choices of a list as anyOf.
func (s *fieldSchema) setChoices(f *askdata.Field) {
	var plain []string
	var titled []titledChoice
	for _, c := range f.Choices {
		plain = append(plain, c.Value)
		titled = append(titled, titledChoice{c.Label(), c.Value})
	}
	switch isTitled := hasTitledChoices(f); {
	case f.Type == "array" && isTitled:
		s.Items = &fieldSchema{AnyOf: titled}
	case f.Type == "array":
		s.Items = &fieldSchema{Type: "string", Enum: plain}
	case isTitled && f.EnumNames:
		s.Enum, s.EnumNames = plain, nil
		for _, c := range titled {
			s.EnumNames = append(s.EnumNames, c.Title)
		}
	case isTitled:
		s.OneOf = titled
	default:
		s.Enum = plain
	}
}

func hasTitledChoices(f *askdata.Field) bool {
	for _, c := range f.Choices {
		if c.Title != "" && c.Title != c.Value {
			return true
		}
	}
	return false
}

// patternOf returns the regular expression that the field's text must match, or
// the empty string.
func patternOf(f *askdata.Field) string {
	if f.Pattern == "" && f.Format == askdata.FormatTime {
		return askdata.TimePattern
	}
	return f.Pattern
}

// describeRules returns the field's description followed by a sentence for each
// rule that MCP's subset can't express.
func describeRules(f *askdata.Field) string {
	var rules []string
	add := func(rule string) { rules = append(rules, endSentence(rule)) }
	switch {
	case len(f.Choices) > 0 || patternOf(f) == "":
	case f.PatternHint != "":
		add(capitalize(f.PatternHint))
	case patternOf(f) == askdata.TimePattern:
		add("A time of day, such as 18:30")
	default:
		add("Must match " + f.Pattern)
	}
	if f.Step != nil {
		add("Must be a multiple of " + humanize.Number(*f.Step))
	}
	if f.Earliest != "" {
		add("Not before " + f.Earliest)
	}
	if f.Latest != "" {
		add("Not after " + f.Latest)
	}
	switch {
	case len(rules) == 0:
		return f.Description
	case f.Description != "":
		rules = append([]string{endSentence(f.Description)}, rules...)
	}
	return strings.Join(rules, " ")
}

// endSentence adds a period unless the sentence ends with a punctuation mark.
func endSentence(sentence string) string {
	sentence = strings.TrimSpace(sentence)
	if strings.HasSuffix(sentence, ".") || strings.HasSuffix(sentence, "!") || strings.HasSuffix(sentence, "?") {
		return sentence
	}
	return sentence + "."
}

// capitalize returns s with its first letter in upper case.
func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
