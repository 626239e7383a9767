package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Schema is the form as a JSON Schema with every rule that a schema can hold.
func (f Fields) Schema() json.RawMessage { return f.schema(false) }

// RequestedSchema is the form within the subset that MCP allows in
// elicitation/create (2025-11-25): what Beam enforces beyond it (pattern,
// step, date bounds) is said in the descriptions.
func (f Fields) RequestedSchema() json.RawMessage { return f.schema(true) }

// schema writes the properties in the form's order, which a map would lose.
func (f Fields) schema(subset bool) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i := range f {
		field := &f[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustMarshal(field.Name))
		b.WriteByte(':')
		b.Write(mustMarshal(field.schema(subset)))
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

func mustMarshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ask: encoding a form's schema: %v", err)) // only a Default that is no JSON
	}
	return raw
}

// fieldSchema is what a field's JSON Schema may say.
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

// titledChoice is a choice as MCP writes one that has a title (SEP-1330).
type titledChoice struct {
	Title string `json:"title"`
	Const string `json:"const"`
}

func (f *Field) schema(subset bool) fieldSchema {
	s := fieldSchema{Type: f.Type, Title: f.Title, Description: f.Description, Default: f.Default}
	switch {
	case f.Type == "number" || f.Type == "integer":
		s.Minimum, s.Maximum, s.MultipleOf = f.Minimum, f.Maximum, f.Step
	case f.Type == "array":
		s.MinItems, s.MaxItems, s.UniqueItems = f.MinItems, f.MaxItems, true
		f.setChoices(&s)
	case f.Type == "string" && len(f.Choices) > 0:
		f.setChoices(&s)
	case f.Type == "string":
		s.MinLength, s.MaxLength, s.Pattern = f.MinLength, f.MaxLength, f.effectivePattern()
		switch f.Format {
		case "email", "uri", "date", "date-time":
			s.Format = f.Format
		}
	}
	if subset {
		s.Description = f.describeRules()
		s.Pattern, s.MultipleOf, s.UniqueItems = "", nil, false
	}
	return s
}

// setChoices writes plain choices as enum and titled ones as oneOf, or as
// anyOf within a list.
func (f *Field) setChoices(s *fieldSchema) {
	var plain []string
	var titled []titledChoice
	for _, c := range f.Choices {
		plain = append(plain, c.Value)
		titled = append(titled, titledChoice{c.Label(), c.Value})
	}
	switch isTitled := f.hasTitledChoices(); {
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

func (f *Field) hasTitledChoices() bool {
	for _, c := range f.Choices {
		if c.Title != "" && c.Title != c.Value {
			return true
		}
	}
	return false
}

// describeRules is the description with the rules that a subset schema can't hold,
// each a sentence.
func (f *Field) describeRules() string {
	var said []string
	add := func(sentence string) { said = append(said, endSentence(sentence)) }
	switch {
	case len(f.Choices) > 0 || f.effectivePattern() == "":
	case f.PatternHint != "":
		add(capitalize(f.PatternHint))
	case f.effectivePattern() == TimePattern:
		add("A time of day, such as 18:30")
	default:
		add("Must match " + f.Pattern)
	}
	if f.Step != nil {
		add("Must be a multiple of " + formatNumber(*f.Step))
	}
	if f.Earliest != "" {
		add("Not before " + f.Earliest)
	}
	if f.Latest != "" {
		add("Not after " + f.Latest)
	}
	switch {
	case len(said) == 0:
		return f.Description
	case f.Description != "":
		said = append([]string{endSentence(f.Description)}, said...)
	}
	return strings.Join(said, " ")
}

// endSentence ends a sentence that has no end.
func endSentence(sentence string) string {
	sentence = strings.TrimSpace(sentence)
	if strings.HasSuffix(sentence, ".") || strings.HasSuffix(sentence, "!") || strings.HasSuffix(sentence, "?") {
		return sentence
	}
	return sentence + "."
}

// capitalize makes a hint, "must be three letters", the begin of a sentence.
func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
