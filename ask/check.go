package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// Check validates content against every rule of the form and returns it in the
// form to be recorded: without members that aren't fields, and with whole numbers
// written without a fraction. Missing content is an empty object. The error is a
// [*generators.InvalidError] with every violation, in the order of the fields.
//
// Check accepts what the form's JSON Schema accepts (a fuzz test compares them),
// but needs no schema: forms are flat, asked often, and may have thousands of
// choices.
func (f Fields) Check(content json.RawMessage) (json.RawMessage, error) {
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	values := make([]json.RawMessage, len(f))
	rawjson.EachMember(content, func(name []byte, value json.RawMessage) {
		if i := f.index(string(name)); i >= 0 {
			values[i] = value
		}
	})
	c := checker{}
	out := append(make([]byte, 0, len(content)), '{')
	for i, raw := range values {
		field := &f[i]
		c.path = field.Name
		if raw == nil {
			if field.Required {
				c.addError("is required")
			}
			continue
		}
		value := c.checkValue(field, raw)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendText(out, field.Name), ':')
		out = append(out, value...)
	}
	if len(c.errs) > 0 {
		return nil, &generators.InvalidError{Fields: c.errs}
	}
	return append(out, '}'), nil
}

func notObjectError(content json.RawMessage) error {
	var v any
	message := ""
	if err := json.Unmarshal(content, &v); err != nil {
		message = "must be a single JSON value: " + err.Error()
	} else {
		message = "must be an object, not " + rawjson.TypeName(content)
	}
	return &generators.InvalidError{Fields: []generators.FieldError{{Message: message}}}
}

// A checker collects the errors in the fields of one answer.
type checker struct {
	path string // the field's name
	errs []generators.FieldError
}

func (c *checker) addError(format string, args ...any) {
	c.errs = append(c.errs, generators.At(c.path, fmt.Sprintf(format, args...)))
}

// checkValue validates a value and returns it in the form to be recorded.
func (c *checker) checkValue(f *Field, raw json.RawMessage) json.RawMessage {
	got := rawjson.TypeName(raw)
	switch f.Type {
	case "string":
		if got != rawjson.TextType {
			c.addError("must be %s, not %s", rawjson.TextType, got)
			return nil
		}
		s, plain := rawjson.DecodeText(raw)
		c.checkText(f, s)
		if plain {
			return raw
		}
		return rawjson.EncodeText(s)
	case "number", "integer":
		if got == rawjson.NumberType {
			return c.checkNumber(f, string(raw))
		}
		want := rawjson.NumberType
		if f.Type == "integer" {
			want = "a whole number"
		}
		c.addError("must be %s, not %s", want, got)
		return nil
	case "boolean":
		if got != rawjson.BoolType {
			c.addError("must be %s, not %s", rawjson.BoolType, got)
		}
	case "array":
		if got != rawjson.ListType {
			c.addError("must be %s, not %s", rawjson.ListType, got)
			return nil
		}
		c.checkList(f, raw)
	}
	return rawjson.Compact(raw)
}

func (c *checker) checkText(f *Field, s string) {
	if len(f.Choices) > 0 {
		if !f.hasChoice(s) {
			c.addError("%s", f.oneOfMessage())
		}
		return
	}
	formatted := c.checkFormat(f.Format, s)
	n := utf8.RuneCountInString(s)
	switch {
	case n < f.MinLength && f.MinLength == 1:
		c.addError("must not be empty")
	case n < f.MinLength:
		c.addError("must be at least %d characters long; it has %d", f.MinLength, n)
	case f.MaxLength > 0 && n > f.MaxLength:
		c.addError("must be at most %d characters long; it has %d", f.MaxLength, n)
	}
	c.checkPattern(f, s)
	if message := f.checkDateBounds(s); formatted && message != "" {
		c.addError("%s", message)
	}
}

func (c *checker) checkList(f *Field, raw json.RawMessage) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		c.addError("must be %s", rawjson.ListType)
		return
	}
	seen := make(map[string]bool, len(items))
	twice := false
	for i, item := range items {
		at := generators.FieldError{Path: generators.At(f.Name, "").Path + "/" + strconv.Itoa(i)}
		s := string(item)
		if got := rawjson.TypeName(item); got != rawjson.TextType {
			at.Message = fmt.Sprintf("must be %s, not %s", rawjson.TextType, got)
		} else if s, _ = rawjson.DecodeText(item); !f.hasChoice(s) {
			at.Message = f.oneOfMessage()
		}
		if at.Message != "" && len(c.errs) < maxErrors {
			c.errs = append(c.errs, at)
		}
		twice = twice || seen[s]
		seen[s] = true
	}
	switch n := len(items); {
	case n < f.MinItems:
		c.addError("must have at least %s; it has %d", humanize.Count(f.MinItems, "item"), n)
	case f.MaxItems > 0 && n > f.MaxItems:
		c.addError("must have at most %s; it has %d", humanize.Count(f.MaxItems, "item"), n)
	}
	if twice {
		c.addError("must not have the same item twice")
	}
}

// hasChoice reports whether value is one of the choices.
func (f *Field) hasChoice(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

// The limits on the choices that an error lists, and on the errors of one list.
const (
	maxListedChoices = 20
	maxErrors        = 100
)

func (f *Field) oneOfMessage() string {
	var names []string
	for _, c := range f.Choices[:min(len(f.Choices), maxListedChoices)] {
		names = append(names, c.Value)
	}
	message := "must be one of " + strings.Join(names, ", ")
	if n := len(f.Choices); n > maxListedChoices {
		message += fmt.Sprintf(" … (%d in all)", n)
	}
	return message
}
