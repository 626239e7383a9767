package ask

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Formats that a string field may have besides MCP's email, uri, date and
// date-time.
const (
	FormatTime   = "time"     // HH:MM; in a schema it is TimePattern
	FormatSecret = "password" // typed unseen
	FormatLong   = "text"     // several lines
)

// TimePattern is how a schema says "a time of day, HH:MM": JSON Schema's own
// format time demands seconds and a zone.
const TimePattern = `^([01]\d|2[0-3]):[0-5]\d$`

// A Field is one thing to fill in.
type Field struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Type is the JSON type of the value: string, number, integer or boolean;
	// array for a list of choices; empty for any JSON, as it stands in forms
	// made from a tool's input schema, never in a question.
	Type      string `json:"type,omitempty"`
	Format    string `json:"format,omitempty"`
	Required  bool   `json:"required,omitempty"`
	MinLength int    `json:"minLength,omitempty"` // in characters
	MaxLength int    `json:"maxLength,omitempty"` // 0 is no limit
	Pattern   string `json:"pattern,omitempty"`   // RE2
	// PatternHint says in words what the pattern wants.
	PatternHint string   `json:"patternHint,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Step        *float64 `json:"step,omitempty"` // values are its multiples
	// Earliest and Latest bound a date or date-time, in the field's format.
	Earliest string          `json:"earliest,omitempty"`
	Latest   string          `json:"latest,omitempty"`
	Choices  []Choice        `json:"choices,omitempty"`
	MinItems int             `json:"minItems,omitempty"`
	MaxItems int             `json:"maxItems,omitempty"` // 0 is no limit
	Default  json.RawMessage `json:"default,omitempty"`
}

// A Choice is one of several values. An empty title shows the value.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// Label is what people read.
func (c Choice) Label() string {
	if c.Title != "" {
		return c.Title
	}
	return c.Value
}

// Label is what people read: the title, or the name.
func (f *Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Fields are a form: a flat list of fields, in the order in which they are shown.
type Fields []Field

// Field returns the field of that name, or nil.
func (f Fields) Field(name string) *Field {
	for i := range f {
		if f[i].Name == name {
			return &f[i]
		}
	}
	return nil
}

// Schema is the form as a JSON Schema with every rule that a schema can hold.
func (f Fields) Schema() json.RawMessage { return f.schema(false) }

// RequestedSchema is the form within the subset that MCP allows in
// elicitation/create (2025-11-25): what Beam enforces beyond it (pattern,
// step, date bounds) is said in the descriptions.
func (f Fields) RequestedSchema() json.RawMessage { return f.schema(true) }

func (f Fields) schema(subset bool) json.RawMessage {
	s := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema, len(f))}
	for i := range f {
		field := &f[i]
		s.Properties[field.Name] = field.schema(subset)
		s.PropertyOrder = append(s.PropertyOrder, field.Name)
		if field.Required {
			s.Required = append(s.Required, field.Name)
		}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("ask: encoding a form's schema: %v", err))
	}
	return raw
}

func (f *Field) schema(subset bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: f.Type, Title: f.Title, Description: f.Description, Default: f.Default}
	switch {
	case f.Type == "number" || f.Type == "integer":
		s.Minimum, s.Maximum, s.MultipleOf = f.Minimum, f.Maximum, f.Step
	case f.Type == "array":
		s.MinItems, s.MaxItems = positive(f.MinItems), positive(f.MaxItems)
		s.UniqueItems = true
		f.schemaChoices(s)
	case f.Type == "string" && len(f.Choices) > 0:
		f.schemaChoices(s)
	case f.Type == "string":
		s.MinLength, s.MaxLength = positive(f.MinLength), positive(f.MaxLength)
		s.Pattern = f.pattern()
		switch f.Format {
		case "email", "uri", "date", "date-time":
			s.Format = f.Format
		}
	}
	if subset {
		s.Description = f.describe()
		s.Pattern, s.MultipleOf, s.UniqueItems = "", nil, false
	}
	return s
}

// schemaChoices writes plain choices as enum and titled ones as oneOf, or as
// anyOf within a list (SEP-1330).
func (f *Field) schemaChoices(s *jsonschema.Schema) {
	var plain []any
	var titled []*jsonschema.Schema
	for _, c := range f.Choices {
		plain = append(plain, c.Value)
		titled = append(titled, &jsonschema.Schema{Const: new(any(c.Value)), Title: c.Label()})
	}
	switch isTitled := f.titled(); {
	case f.Type == "array" && isTitled:
		s.Items = &jsonschema.Schema{AnyOf: titled}
	case f.Type == "array":
		s.Items = &jsonschema.Schema{Type: "string", Enum: plain}
	case isTitled:
		s.OneOf = titled
	default:
		s.Enum = plain
	}
}

func (f *Field) titled() bool {
	for _, c := range f.Choices {
		if c.Title != "" && c.Title != c.Value {
			return true
		}
	}
	return false
}

// describe is the description with the rules that a subset schema can't hold.
func (f *Field) describe() string {
	var rules []string
	add := func(rule string) { rules = append(rules, strings.TrimSuffix(rule, ".")) }
	switch {
	case len(f.Choices) > 0 || f.pattern() == "":
	case f.PatternHint != "":
		add(upperFirst(f.PatternHint))
	case f.pattern() == TimePattern:
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
	case len(rules) == 0:
		return f.Description
	case f.Description != "":
		rules = append([]string{strings.TrimSuffix(f.Description, ".")}, rules...)
	}
	return strings.Join(rules, ". ")
}

// upperFirst makes a hint, "must be three letters", the begin of a sentence.
func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

// outOfBounds compares dates, which ISO 8601 orders as text, and date-times.
func (f *Field) outOfBounds(s string) string {
	switch before := earlier(f.Format); {
	case f.Earliest != "" && before(s, f.Earliest):
		return "must not be before " + f.Earliest
	case f.Latest != "" && before(f.Latest, s):
		return "must not be after " + f.Latest
	}
	return ""
}

// earlier returns the order of a date format.
func earlier(format string) func(a, b string) bool {
	if format != "date-time" {
		return func(a, b string) bool { return a < b }
	}
	return func(a, b string) bool {
		at, errA := time.Parse(time.RFC3339, a)
		bt, errB := time.Parse(time.RFC3339, b)
		return errA == nil && errB == nil && at.Before(bt)
	}
}

// pattern is the regular expression that a text must match, if any.
func (f *Field) pattern() string {
	if f.Pattern == "" && f.Format == FormatTime {
		return TimePattern
	}
	return f.Pattern
}
