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

// formControl is a field as it is drawn.
type formControl struct {
	*ask.Field
	id         string
	widget     string   // the kind of control, see widgetOf
	values     []string // what is filled in
	errors     []string
	labelledBy string // id of what labels it, if it has no label of its own
}

// The widgets other than the types of <input>.
const (
	textarea     = "textarea"
	radios       = "radios"
	selectWidget = "select"
	checkboxes   = "checkboxes"
	checkbox     = "checkbox"
)

// maxRadios is how many choices are all in sight; more are a select.
const maxRadios = 6

// maxUnfilteredSelect is how many choices a select has without a filter.
const maxUnfilteredSelect = 20

// needsFilter tells whether there are so many choices that one looks for one.
func (c *formControl) needsFilter() bool {
	return c.widget == checkboxes && len(c.Choices) > maxRadios || c.widget == selectWidget && len(c.Choices) > maxUnfilteredSelect
}

// newFormControls prepares a form's fields. Nil values fill in the defaults.
func newFormControls(prefix string, fields ask.Fields, values url.Values, errs []generators.FieldError) []*formControl {
	list := make([]*formControl, len(fields))
	for i := range fields {
		f := &fields[i]
		c := &formControl{Field: f, id: prefix + "-" + strconv.Itoa(i), widget: widgetOf(f)}
		switch {
		case values == nil:
			c.values = DefaultValues(f)
		case f.Format != ask.FormatSecret:
			c.values = values[f.Name]
		}
		for _, e := range errs {
			if e.Field() == f.Name && e.Path != "" {
				c.errors = append(c.errors, e.Message)
			}
		}
		list[i] = c
	}
	return list
}

// generalErrors are those that belong to no field.
func generalErrors(fields ask.Fields, errs []generators.FieldError) []string {
	var other []string
	for _, e := range errs {
		if e.Path == "" || fields.Field(e.Field()) == nil {
			other = append(other, e.Message)
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

// DefaultValues are a field's default as a form posts it.
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

// timestamp is what is filled in, if that is a moment in RFC 3339 and the control
// is to show it in its reader's time; else empty.
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

// datetimeLocal is a moment as an input of type datetime-local wants it, in UTC.
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

// choiceID is the id of one of the field's choices.
func (c *formControl) choiceID(n int) string { return c.id + "-" + strconv.Itoa(n) }

// describedBy lists the ids of what describes the field.
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

func (c *formControl) hasErrors() bool { return len(c.errors) > 0 }
