package askdata

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
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
				c.violate(rule.Required, "", "")
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
		return nil, invalidError(c.errs...)
	}
	return append(out, '}'), nil
}

func notObjectError(content json.RawMessage) error {
	var v any
	e := violation("", rule.Type, "object", rawjson.SchemaType(content))
	if err := json.Unmarshal(content, &v); err != nil {
		e = generators.FieldError{Message: "must be a single JSON value: " + err.Error(), Rule: rule.JSON}
	}
	return invalidError(e)
}

// violation returns the error of a part that breaks a rule.
func violation(path, name, want, got string) generators.FieldError {
	return generators.FieldError{Path: path, Message: rule.Message(name, want, got), Rule: name, Want: want, Got: got}
}

// A checker collects the errors in the fields of one answer.
type checker struct {
	path string // the field's name
	errs []generators.FieldError
}

// violate adds that the field breaks a rule.
func (c *checker) violate(name, want, got string) {
	c.errs = append(c.errs, violation(driver.At(c.path, "").Path, name, want, got))
}

// addError adds an error in words of its own.
func (c *checker) addError(name, format string, args ...any) {
	e := driver.At(c.path, fmt.Sprintf(format, args...))
	e.Rule = name
	c.errs = append(c.errs, e)
}

// checkValue validates a value and returns it in the form to be recorded.
func (c *checker) checkValue(f *Field, raw json.RawMessage) json.RawMessage {
	got := rawjson.SchemaType(raw)
	switch {
	case f.Type == "": // any JSON
	case got != f.Type && !(got == "number" && f.Type == "integer"):
		c.violate(rule.Type, f.Type, got)
		return nil
	case got == "string":
		s, plain := rawjson.DecodeText(raw)
		c.checkText(f, s)
		if plain {
			return raw
		}
		return rawjson.EncodeText(s)
	case got == "number":
		return c.checkNumber(f, string(raw))
	case got == "array":
		c.checkList(f, raw)
	}
	return rawjson.Compact(raw)
}

func (c *checker) checkText(f *Field, s string) {
	if len(f.Choices) > 0 {
		if !f.hasChoice(s) {
			c.violate(rule.Enum, f.choiceList(), "")
		}
		return
	}
	formatted := c.checkFormat(f.Format, s)
	n := utf8.RuneCountInString(s)
	switch {
	case n < f.MinLength:
		c.violate(rule.MinLength, strconv.Itoa(f.MinLength), strconv.Itoa(n))
	case f.MaxLength > 0 && n > f.MaxLength:
		c.violate(rule.MaxLength, strconv.Itoa(f.MaxLength), strconv.Itoa(n))
	}
	c.checkPattern(f, s)
	if formatted {
		c.checkDateBounds(f, s)
	}
}

// checkDateBounds adds an error if a date or date-time is out of the field's bounds.
func (c *checker) checkDateBounds(f *Field, s string) {
	switch before := dateOrder(f.Format); {
	case f.Earliest != "" && before(s, f.Earliest):
		c.violate(rule.Earliest, f.Earliest, "")
	case f.Latest != "" && before(f.Latest, s):
		c.violate(rule.Latest, f.Latest, "")
	}
}

func (c *checker) checkList(f *Field, raw json.RawMessage) {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items) // it is a list
	seen := make(map[string]bool, len(items))
	twice := false
	for i, item := range items {
		s, got := string(item), rawjson.SchemaType(item)
		if got == "string" {
			s, _ = rawjson.DecodeText(item)
		}
		at := driver.At(f.Name, "").Path + "/" + strconv.Itoa(i)
		switch {
		case len(c.errs) >= maxErrors:
		case got != "string":
			c.errs = append(c.errs, violation(at, rule.Type, "string", got))
		case !f.hasChoice(s):
			c.errs = append(c.errs, violation(at, rule.Enum, f.choiceList(), ""))
		}
		twice = twice || seen[s]
		seen[s] = true
	}
	n := len(items)
	switch {
	case n < f.MinItems:
		c.violate(rule.MinItems, strconv.Itoa(f.MinItems), strconv.Itoa(n))
	case f.MaxItems > 0 && n > f.MaxItems:
		c.violate(rule.MaxItems, strconv.Itoa(f.MaxItems), strconv.Itoa(n))
	}
	if twice {
		c.violate(rule.UniqueItems, "", "")
	}
}

// hasChoice reports whether value is one of the choices.
func (f *Field) hasChoice(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

// maxErrors limits the errors of one list.
const maxErrors = 100

// choiceList returns the choices, for an error.
func (f *Field) choiceList() string {
	return rule.OneOf(len(f.Choices), func(i int) string { return f.Choices[i].Value })
}
