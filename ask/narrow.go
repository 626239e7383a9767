package ask

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
)

// maxFields bounds a form.
const maxFields = 100

// Narrow turns an object schema into a form. It refuses what a form can't ask:
// nested objects, lists of anything but choices, unknown formats, more than
// 100 fields. The error names the field.
func Narrow(schema *jsonschema.Schema) (Fields, error) {
	return narrow(schema, func(_ Field, err error) (Field, error) { return Field{}, err })
}

// Inputs turns the input schema of a tool into a form. A property that a form
// can't ask becomes a field for JSON.
func Inputs(schema *jsonschema.Schema) (Fields, error) {
	return narrow(schema, func(f Field, _ error) (Field, error) {
		f.Type, f.Format, f.Choices = "", "", nil
		return f, nil
	})
}

func narrow(schema *jsonschema.Schema, misfit func(Field, error) (Field, error)) (Fields, error) {
	if schema.Type != "object" && len(schema.Properties) == 0 {
		return nil, fmt.Errorf("a form is an object with properties, not %q", schema.Type)
	}
	names := propertyNames(schema)
	if len(names) > maxFields {
		return nil, fmt.Errorf("a form has at most %d fields, and this has %d", maxFields, len(names))
	}
	form := make(Fields, 0, len(names))
	for _, name := range names {
		f, err := narrowField(name, schema.Properties[name])
		f.Required = slices.Contains(schema.Required, name)
		if err != nil {
			if f, err = misfit(f, err); err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
		}
		form = append(form, f)
	}
	return form, nil
}

// propertyNames lists an object's properties in their declared order, those
// without one by name.
func propertyNames(s *jsonschema.Schema) []string {
	var names []string
	for _, n := range s.PropertyOrder {
		if s.Properties[n] != nil {
			names = append(names, n)
		}
	}
	var rest []string
	for n := range s.Properties {
		if !slices.Contains(names, n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

func narrowField(name string, s *jsonschema.Schema) (Field, error) {
	f := Field{
		Name: name, Title: s.Title, Description: s.Description, Default: s.Default,
		Type: s.Type, Format: s.Format, Pattern: s.Pattern,
		Minimum: s.Minimum, Maximum: s.Maximum, Step: s.MultipleOf,
		MinLength: deref(s.MinLength), MaxLength: deref(s.MaxLength),
		MinItems: deref(s.MinItems), MaxItems: deref(s.MaxItems),
	}
	if s.Pattern == TimePattern {
		f.Format = FormatTime
	}
	switch s.Type {
	case "number", "integer", "boolean":
		return f, leftOver(s)
	case "string":
		return narrowString(f, s)
	case "array":
		return narrowList(f, s)
	case "object":
		return f, errors.New("is an object; a form is flat")
	case "":
		if len(s.OneOf) > 0 || len(s.Enum) > 0 {
			f.Type = "string"
			return narrowString(f, s)
		}
	}
	return f, errors.New("has no single type out of string, number, integer, boolean and array")
}

func narrowString(f Field, s *jsonschema.Schema) (Field, error) {
	switch f.Format {
	case "", "email", "uri", "date", "date-time", FormatTime:
	default:
		return f, fmt.Errorf("has the format %q; a form knows email, uri, date and date-time", f.Format)
	}
	var err error
	if f.Choices, err = choicesOf(s.Enum, s.OneOf); err != nil {
		return f, err
	}
	if len(f.Choices) > 0 {
		f.Format, f.Pattern = "", ""
	}
	return f, leftOver(s)
}

func narrowList(f Field, s *jsonschema.Schema) (Field, error) {
	if s.Items == nil {
		return f, errors.New("is a list of anything; a form has lists of choices")
	}
	var err error
	if f.Choices, err = choicesOf(s.Items.Enum, append(slices.Clone(s.Items.AnyOf), s.Items.OneOf...)); err != nil {
		return f, err
	}
	return f, leftOver(s)
}

// choicesOf reads plain or titled choices, which are strings.
func choicesOf(enum []any, titled []*jsonschema.Schema) ([]Choice, error) {
	var choices []Choice
	for _, v := range enum {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("has the choice %v; choices are strings", v)
		}
		choices = append(choices, Choice{Value: text})
	}
	for _, s := range titled {
		if s.Const == nil {
			return nil, errors.New("has alternatives that are no constants; a form has choices only")
		}
		text, ok := (*s.Const).(string)
		if !ok {
			return nil, fmt.Errorf("has the choice %v; choices are strings", *s.Const)
		}
		choices = append(choices, Choice{Value: text, Title: s.Title})
	}
	return choices, nil
}

// leftOver refuses the keywords that a form would silently not enforce.
func leftOver(s *jsonschema.Schema) error {
	switch {
	case s.Ref != "" || s.DynamicRef != "":
		return errors.New("refers to another schema; a form is flat")
	case len(s.AllOf) > 0 || s.Not != nil || s.If != nil || len(s.AnyOf) > 0:
		return errors.New("is conditional; a form is flat")
	case s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil:
		return errors.New("has an exclusive bound; a form knows minimum and maximum")
	case s.Const != nil:
		return errors.New("is a constant; there is nothing to ask")
	}
	return nil
}

// finish checks a form that is about to be asked.
func (f Fields) finish() error {
	for i := range f {
		field := &f[i]
		if field.Type == "array" && len(field.Choices) == 0 {
			return fmt.Errorf("field %q: is a list without choices; give them by tag or with ask.Choose", field.Name)
		}
	}
	return nil
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func asInvalid(err error, to **generators.InvalidError) bool { return errors.As(err, to) }

// earlier returns the order of a date format.
func earlier(format string) func(a, b string) bool {
	if format != "date-time" {
		return func(a, b string) bool { return strings.Compare(a, b) < 0 }
	}
	return func(a, b string) bool {
		at, errA := time.Parse(time.RFC3339, a)
		bt, errB := time.Parse(time.RFC3339, b)
		return errA == nil && errB == nil && at.Before(bt)
	}
}
