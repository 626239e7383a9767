// Package controls renders the parts of forms: labels, controls, hints, and errors that say what
// to do.
package controls

//go:generate go tool templ generate -path .

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

// A Control is a part of a form prepared for rendering.
type Control struct {
	*form.Part
	id         string
	widget     string // see widgetOf
	errors     []generators.FieldError
	LabelledBy string     // the id of the element that labels it, if not its own label
	parts      []*Control // of a part that has parts
	named      bool       // its name is filled in beside it
	within     string     // what it is part of, for errors
	// EditURL is where buttons post that change the form's parts; empty if it has none.
	EditURL templ.SafeURL
	focus   string // the button, or "control", that has the focus
}

// The widgets that are not types of <input>.
const (
	textarea     = "textarea"
	radios       = "radios"
	selectWidget = "select"
	checkboxes   = "checkboxes"
	checkbox     = "checkbox"
	constant     = "constant"
	encoded      = "encoded"
)

// maxRadios is how many choices are radio buttons; more are a select.
const maxRadios = 6

// maxUnfilteredSelect is the most choices of a select without a filter.
const maxUnfilteredSelect = 20

// needsFilter reports whether there are enough choices to need a filter.
func (c *Control) needsFilter() bool {
	return c.widget == checkboxes && len(c.Choices) > maxRadios || c.widget == selectWidget && len(c.Choices) > maxUnfilteredSelect
}

// alwaysHasValue reports whether the person changes a default rather than chooses or not.
func (c *Control) alwaysHasValue() bool {
	return (c.widget == radios || c.widget == selectWidget) && len(c.Default) > 0 && len(c.Values) > 0 && c.value() != ""
}

func widgetOf(f *form.Part) string {
	switch {
	case f.Kind != form.Control:
		return "part-" + string(f.Kind)
	case f.IsConstant():
		return constant
	case f.Encoded:
		return encoded
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
	case f.Type == "" || f.Format == askdata.FormatLong:
		return textarea
	}
	switch f.Format {
	case askdata.FormatSecret:
		return "password"
	case "date", "email", askdata.FormatTime:
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

// timestamp returns the value of a datetime-local control if it is an RFC 3339 time,
// which the page converts to the browser's time zone; else empty.
func (c *Control) timestamp() string {
	if c.widget != "datetime-local" || len(c.Values) == 0 {
		return ""
	}
	v := c.Values[len(c.Values)-1]
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

func (c *Control) value() string {
	if len(c.Values) == 0 {
		return ""
	}
	if m := c.timestamp(); m != "" {
		return datetimeLocal(m)
	}
	return c.Values[len(c.Values)-1]
}

func (c *Control) hasValue(value string) bool { return slices.Contains(c.Values, value) }

func (c *Control) isChecked() bool {
	switch c.value() {
	case "", "off", "false":
		return false
	}
	return true
}

// choiceID returns the id of one of the field's choices.
func (c *Control) choiceID(n int) string { return c.id + "-" + strconv.Itoa(n) }

// describedBy returns the ids of the elements that describe the field.
func (c *Control) describedBy() string {
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

func (c *Control) hasErrors() bool { return len(c.errors) > 0 }

// A Text is a text that somebody entered, with the label of its control.
type Text struct{ Label, Text string }

// Entered returns the texts that somebody entered in a question's form, without
// secrets. What is chosen is chosen again as easily.
func Entered(q *askdata.Question, entered url.Values) (texts []Text) {
	if q == nil || len(entered) == 0 {
		return nil
	}
	before, _ := New("", form.FromFields(q.Fields, nil).Parts, nil)
	after, _ := New("", form.FromFields(q.Fields, entered).Parts, nil)
	for i, c := range after {
		switch c.widget {
		case "password", constant, checkbox, radios, checkboxes, selectWidget:
			continue
		}
		if text := strings.TrimSpace(c.value()); text != "" && c.value() != before[i].value() {
			texts = append(texts, Text{Label: c.Label(), Text: text})
		}
	}
	return texts
}
