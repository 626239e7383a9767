package askdata

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/rule"
)

// The formats of a string field in addition to MCP's email, uri, date and
// date-time.
const (
	FormatTime   = "time"     // HH:MM; in a schema it is TimePattern
	FormatSecret = "password" // hidden while it is typed
	FormatLong   = "text"     // several lines
)

// TimePattern is the pattern for a time of day, HH:MM, in a schema: JSON Schema's
// own format "time" requires seconds and a zone.
const TimePattern = rule.TimePattern

// A Field is one field of a form.
type Field struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Type is the JSON type of the value: string, number, integer or boolean, or
	// array for a list of choices. It is empty for any JSON value; only forms for
	// a tool's input have such fields, never questions.
	Type      string `json:"type,omitempty"`
	Format    string `json:"format,omitempty"`
	Required  bool   `json:"required,omitempty"`
	MinLength int    `json:"minLength,omitempty"` // in Unicode code points
	MaxLength int    `json:"maxLength,omitempty"` // 0 means no limit
	Pattern   string `json:"pattern,omitempty"`   // RE2
	// PatternHint states the pattern in words, as in "must be three letters".
	PatternHint string   `json:"patternHint,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Step        *float64 `json:"step,omitempty"` // values are multiples of it
	// Earliest and Latest limit a date or date-time, in the field's format.
	Earliest string   `json:"earliest,omitempty"`
	Latest   string   `json:"latest,omitempty"`
	Choices  []Choice `json:"choices,omitempty"`
	// EnumNames writes the titles of a single choice as MCP did before 2025-11-25,
	// for clients that support no other way.
	EnumNames bool            `json:"enumNames,omitempty"`
	MinItems  int             `json:"minItems,omitempty"`
	MaxItems  int             `json:"maxItems,omitempty"` // 0 means no limit
	Default   json.RawMessage `json:"default,omitempty"`
}

// A Choice is one of several values. If the title is empty, surfaces show the
// value.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// Label returns the title, or the value if there is no title.
func (c Choice) Label() string {
	if c.Title != "" {
		return c.Title
	}
	return c.Value
}

// Choices returns choices without titles.
func Choices(values ...string) []Choice {
	choices := make([]Choice, len(values))
	for i, v := range values {
		choices[i] = Choice{Value: v}
	}
	return choices
}

// Label returns the title, or the name if there is no title.
func (f *Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Fields is a form: a flat list of fields in display order.
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

// dateOrder returns a function that reports whether a is before b. Dates compare as
// text, as ISO 8601 intends; date-times may have different zones.
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

// effectivePattern returns the regular expression that a text must match, or the
// empty string.
func (f *Field) effectivePattern() string {
	if f.Pattern == "" && f.Format == FormatTime {
		return TimePattern
	}
	return f.Pattern
}
