package ask

import (
	"github.com/photon-beam/beam/generators"

	"encoding/json"
	"slices"
	"time"
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
const TimePattern = generators.TimePattern

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
	MinLength int    `json:"minLength,omitempty"` // in Unicode code points
	MaxLength int    `json:"maxLength,omitempty"` // 0 is no limit
	Pattern   string `json:"pattern,omitempty"`   // RE2
	// PatternHint says in words what the pattern wants.
	PatternHint string   `json:"patternHint,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Step        *float64 `json:"step,omitempty"` // values are its multiples
	// Earliest and Latest bound a date or date-time, in the field's format.
	Earliest string   `json:"earliest,omitempty"`
	Latest   string   `json:"latest,omitempty"`
	Choices  []Choice `json:"choices,omitempty"`
	// EnumNames has the titles of a single choice's values written as MCP did
	// before 2025-11-25, for clients that know no other way.
	EnumNames bool            `json:"enumNames,omitempty"`
	MinItems  int             `json:"minItems,omitempty"`
	MaxItems  int             `json:"maxItems,omitempty"` // 0 is no limit
	Default   json.RawMessage `json:"default,omitempty"`
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
	if i := f.index(name); i >= 0 {
		return &f[i]
	}
	return nil
}

func (f Fields) index(name string) int {
	return slices.IndexFunc(f, func(field Field) bool { return field.Name == name })
}

// checkDateBounds compares dates, which ISO 8601 orders as text, and date-times.
func (f *Field) checkDateBounds(s string) string {
	switch before := dateOrder(f.Format); {
	case f.Earliest != "" && before(s, f.Earliest):
		return "must not be before " + f.Earliest
	case f.Latest != "" && before(f.Latest, s):
		return "must not be after " + f.Latest
	}
	return ""
}

// dateOrder returns the order of a date format.
func dateOrder(format string) func(a, b string) bool {
	if format != "date-time" {
		return func(a, b string) bool { return a < b }
	}
	return func(a, b string) bool {
		at, errA := time.Parse(time.RFC3339, a)
		bt, errB := time.Parse(time.RFC3339, b)
		return errA == nil && errB == nil && at.Before(bt)
	}
}

// effectivePattern is the regular expression that a text must match, if any.
func (f *Field) effectivePattern() string {
	if f.Pattern == "" && f.Format == FormatTime {
		return TimePattern
	}
	return f.Pattern
}
