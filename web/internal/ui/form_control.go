package ui

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A formControl is a field prepared for rendering.
type formControl struct {
	*ask.Field
	id         string
	widget     string   // see widgetOf
	values     []string // the values filled in
	errors     []generators.FieldError
	labelledBy string // the id of the element that labels it, if not its own label
}

// The widgets that are not types of <input>.
const (
	textarea     = "textarea"
	radios       = "radios"
	selectWidget = "select"
	checkboxes   = "checkboxes"
	checkbox     = "checkbox"
)

// maxRadios is how many choices are radio buttons; more are a select.
const maxRadios = 6

// maxUnfilteredSelect is the most choices of a select without a filter.
const maxUnfilteredSelect = 20

// needsFilter reports whether there are enough choices to need a filter.
func (c *formControl) needsFilter() bool {
	return c.widget == checkboxes && len(c.Choices) > maxRadios || c.widget == selectWidget && len(c.Choices) > maxUnfilteredSelect
}

// newFormControls prepares a form's fields. If values is nil, it fills in the defaults.
func newFormControls(prefix string, fields ask.Fields, values url.Values, errs []generators.FieldError) []*formControl {
	list := make([]*formControl, len(fields))
	for i := range fields {
		f := &fields[i]
		c := &formControl{Field: f, id: prefix + "-" + strconv.Itoa(i), widget: widgetOf(f)}
		switch {
		case values == nil:
			c.values = DefaultValues(f)
		case c.alwaysHasValue() && strings.Join(values[f.Name], "") == "":
			c.values = DefaultValues(f)
		case f.Format != ask.FormatSecret:
			c.values = values[f.Name]
		}
		for _, e := range errs {
			if e.Field() == f.Name && e.Path != "" {
				c.errors = append(c.errors, e)
			}
		}
		list[i] = c
	}
	return list
}

// alwaysHasValue reports whether the person changes a default rather than chooses or not.
func (c *formControl) alwaysHasValue() bool {
	return (c.widget == radios || c.widget == selectWidget) && len(DefaultValues(c.Field)) > 0
}

// generalErrors returns the errors that belong to no field, in sentences.
func generalErrors(fields ask.Fields, errs []generators.FieldError) []string {
	var other []string
	for _, e := range errs {
		if e.Path == "" || fields.Field(e.Field()) == nil {
			other = append(other, e.Sentence(e.Field()))
		}
	}
	return other
}

func widgetOf(f *ask.Field) string {
	switch {
	case f.Type == "array":
		return checkboxes
	case len(f.Choices) > maxRadios:
		return selectWidget
	case len(f.Choices) > 0:
		return radios
	case f.Type == "boolean":
		return checkbox
	case f.Type == "number" || f.Type == "integer":
		return "number"
	case f.Type == "" || f.Format == ask.FormatLong:
		return textarea
	}
	switch f.Format {
	case ask.FormatSecret:
		return "password"
	case "date", "email", ask.FormatTime:
		return f.Format
	case "date-time":
		return "datetime-local"
	case "uri":
		return "url"
	}
	if f.MaxLength > 300 {
		return textarea
	}
	return "text"
}

// DefaultValues returns a field's default as a form would post it.
func DefaultValues(f *ask.Field) []string {
	if len(f.Default) == 0 || f.Format == ask.FormatSecret {
		return nil
	}
	var v any
	if json.Unmarshal(f.Default, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if f.Type == "" {
			return []string{string(f.Default)}
		}
		return []string{v}
	case bool:
		if f.Type == "boolean" {
			if v {
				return []string{"on"}
			}
			return nil
		}
	case []any:
		if f.Type == "array" {
			var list []string
			for _, e := range v {
				if s, ok := e.(string); ok {
					list = append(list, s)
				}
			}
			return list
		}
	}
	return []string{string(f.Default)}
}

// timestamp returns the value of a datetime-local control if it is an RFC 3339 time,
// which the page converts to the browser's time zone; else empty.
func (c *formControl) timestamp() string {
	if c.widget != "datetime-local" || len(c.values) == 0 {
		return ""
	}
	v := c.values[len(c.values)-1]
	if _, err := time.Parse(time.RFC3339, v); err != nil {
		return ""
	}
	return v
}

// datetimeLocal formats an RFC 3339 time for an input of type datetime-local, in UTC.
func datetimeLocal(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

func (c *formControl) value() string {
	if len(c.values) == 0 {
		return ""
	}
	if m := c.timestamp(); m != "" {
		return datetimeLocal(m)
	}
	return c.values[len(c.values)-1]
}

func (c *formControl) hasValue(value string) bool { return slices.Contains(c.values, value) }

func (c *formControl) isChecked() bool {
	switch c.value() {
	case "", "off", "false":
		return false
	}
	return true
}

// choiceID returns the id of one of the field's choices.
func (c *formControl) choiceID(n int) string { return c.id + "-" + strconv.Itoa(n) }

// describedBy returns the ids of the elements that describe the field.
func (c *formControl) describedBy() string {
	var ids []string
	if c.Description != "" {
		ids = append(ids, c.id+"-about")
	}
	if c.hint() != "" {
		ids = append(ids, c.id+"-hint")
	}
	if len(c.errors) > 0 {
		ids = append(ids, c.id+"-error")
	}
	return strings.Join(ids, " ")
}

// answerLabel is what errors call the only field of a question, whose label is the
// question itself.
const answerLabel = "Your answer"

// quoteSentence puts a label in quotation marks if it is a sentence, so that it can be
// part of another: “Which city?”.
func quoteSentence(label string) string {
	label = strings.TrimSuffix(label, ":")
	if strings.HasSuffix(label, "?") || strings.HasSuffix(label, ".") || strings.HasSuffix(label, "!") {
		return "“" + label + "”"
	}
	return label
}

func (c *formControl) hasErrors() bool { return len(c.errors) > 0 }
