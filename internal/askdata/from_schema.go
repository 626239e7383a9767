package askdata

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxFields is the maximum number of fields of a form.
const maxFields = 100

var (
	errNoChoices     = errors.New("is a list without choices; give them by tag or with ask.Choose")
	errUnknownFormat = errors.New("a form supports email, uri, date and date-time")
)

// FromSchema converts an object schema to a form. It returns an error for what a
// form can't represent: nested objects, lists of anything but choices, unknown
// formats, conditions, and more than 100 fields. The error names the field.
func FromSchema(schema *jsonschema.Schema) (Fields, error) {
	return fromObjectSchema(schema, func(f Field, err error) (Field, error) { return f, err })
}

// FromTypeSchema is like FromSchema, but accepts lists without choices, which
// ask.Choose may set later.
func FromTypeSchema(schema *jsonschema.Schema) (Fields, error) {
	return fromObjectSchema(schema, func(f Field, err error) (Field, error) {
		if errors.Is(err, errNoChoices) {
			return f, nil
		}
		return f, err
	})
}

func fromObjectSchema(schema *jsonschema.Schema, misfit func(Field, error) (Field, error)) (Fields, error) {
	if schema == nil || schema.Type != "object" && len(schema.Properties) == 0 {
		return nil, errors.New("a form is an object with properties")
	}
	if err := checkObjectKeywords(schema); err != nil {
		return nil, fmt.Errorf("the form as a whole %w", err)
	}
	names := propertyNames(schema)
	for _, name := range schema.Required {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("field %q: is required, but there is no such property", name)
		}
	}
	return fieldsFromProperties(schema, names, func(name string, s *jsonschema.Schema) (Field, error) {
		f, err := fieldFromSchema(name, s)
		if err != nil {
			return misfit(f, err)
		}
		return f, nil
	})
}

func fieldsFromProperties(schema *jsonschema.Schema, names []string, field func(string, *jsonschema.Schema) (Field, error)) (Fields, error) {
	if len(names) > maxFields {
		return nil, fmt.Errorf("a form has at most %d fields; this one has %d", maxFields, len(names))
	}
	form := make(Fields, 0, len(names))
	for _, name := range names {
		if name == "" {
			return nil, errors.New("a field has no name")
		}
		f, err := field(name, schema.Properties[name])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		f.Required = slices.Contains(schema.Required, name)
		form = append(form, f)
	}
	return form, nil
}

// propertyNames returns the names of an object's properties in PropertyOrder,
// followed by the remaining names in alphabetical order.
func propertyNames(s *jsonschema.Schema) []string {
	known := make(map[string]bool, len(s.Properties))
	var names []string
	for _, n := range s.PropertyOrder {
		if _, there := s.Properties[n]; there && !known[n] {
			names = append(names, n)
			known[n] = true
		}
	}
	var rest []string
	for n := range s.Properties {
		if !known[n] {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}
