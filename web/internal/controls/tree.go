package controls

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
)

// New prepares a form's parts. The ids of their elements begin with prefix.
// Rest are the errors that belong to no part.
func New(prefix string, parts []*form.Part, errs []generators.FieldError) (list []*Control, rest []generators.FieldError) {
	list = make([]*Control, len(parts))
	for i, p := range parts {
		c := &Control{Part: p, id: prefix + "-" + strconv.Itoa(i), widget: widgetOf(p)}
		var own []generators.FieldError
		own, errs = splitErrors(c, errs)
		var whole []generators.FieldError
		if p.Kind == form.Choice && len(p.Parts) > 0 && p.Parts[0].Kind != form.Control { // not of the variant
			whole, own = splitWhole(p.Pointer, own)
		}
		c.parts, c.errors = New(c.id, p.Parts, own)
		c.errors = append(whole, c.errors...)
		for _, part := range c.parts {
			part.named = p.Kind == form.Map
		}
		list[i] = c
	}
	return list, errs
}

// splitErrors returns the errors that belong to a part or one within it, and the others.
func splitErrors(c *Control, errs []generators.FieldError) (own, others []generators.FieldError) {
	for _, e := range errs {
		if isWithin(c, e.Path) {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	return own, others
}

// splitWhole returns the errors that are about the value at a pointer, and the others.
func splitWhole(pointer string, errs []generators.FieldError) (whole, others []generators.FieldError) {
	for _, e := range errs {
		if e.Path == pointer {
			whole = append(whole, e)
		} else {
			others = append(others, e)
		}
	}
	return whole, others
}

// isWithin reports whether a value is the part's or within it. The members that an object
// has without a property have the object's own pointer.
func isWithin(c *Control, pointer string) bool {
	if c.IsOthers() {
		for _, row := range c.Parts {
			if pointer == row.Pointer || strings.HasPrefix(pointer, row.Pointer+"/") {
				return true
			}
		}
		return false
	}
	return pointer != "" && (pointer == c.Pointer || strings.HasPrefix(pointer, c.Pointer+"/"))
}

// SetWithin says of each part what it is part of.
func SetWithin(list []*Control, prefix string) {
	for _, c := range list {
		c.within = prefix
		next := prefix + c.Label() + " › "
		if c.IsOthers() {
			next = prefix
		}
		for _, part := range c.parts {
			switch {
			case c.Kind == form.Choice: // the variant is the part itself
				part.within = prefix
				SetWithin(part.parts, next)
			case c.Kind == form.List && part.Kind == form.Control: // its label says it
				SetWithin([]*Control{part}, prefix)
			default:
				SetWithin([]*Control{part}, next)
			}
		}
	}
}

// SetEditURL lets buttons change the parts, and marks the one that has the focus.
func SetEditURL(list []*Control, url templ.SafeURL, focus form.Focus) {
	for _, c := range list {
		if c.EditURL = url; c.Input == focus.Input && (focus != form.Focus{}) {
			c.focus = focus.Button
			if focus.Button == "" && c.named {
				c.focus = "key"
			} else if focus.Button == "" {
				c.focusFirst()
			}
			focus = form.Focus{} // a variant has the same input
		}
		SetEditURL(c.parts, url, focus)
	}
}

// focusFirst gives the focus to the first control of a part, or else to its button.
func (c *Control) focusFirst() bool {
	switch c.Kind {
	case form.Control, form.JSON, form.Choice:
		c.focus = "control"
		return true
	}
	for _, part := range c.parts {
		if part.focusFirst() {
			return true
		}
	}
	if c.CanAdd {
		c.focus = "add"
	}
	return c.CanAdd
}

// everyError returns the parts with errors, in the order of the page.
func everyError(list []*Control) []*Control {
	var all []*Control
	for _, c := range list {
		if c.hasErrors() {
			all = append(all, c)
		}
		all = append(all, everyError(c.parts)...)
	}
	return all
}

// Sentences returns errors that belong to no field, in sentences.
func Sentences(errs []generators.FieldError) []string {
	var other []string
	for _, e := range errs {
		other = append(other, driver.Sentence(e, driver.FieldOf(e)))
	}
	return other
}

// addLabel returns what a button adds to the rows.
func (c *Control) addLabel() string {
	if c.IsOthers() {
		return "field"
	}
	return inSentence(c.ItemTitle())
}

// inSentence returns a label as a part of a sentence.
func inSentence(label string) string { return cmp.Or(nounOf(label), label) }

// shownLabel returns the label beside the control: the name of a named value is beside it.
func (c *Control) shownLabel() string {
	if c.named {
		return "Value"
	}
	return c.Label()
}

// rowLabel returns what a button removes.
func (c *Control) rowLabel(row *Control) string {
	if c.Kind == form.Map {
		return strings.TrimSpace(c.addLabel() + " " + row.Name)
	}
	return row.Label()
}

func buttonLabel(verb, about string) string {
	if verb == "remove" {
		return "Remove " + about
	}
	return about
}
