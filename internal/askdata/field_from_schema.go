package askdata

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

func fieldFromSchema(name string, s *jsonschema.Schema) (Field, error) {
	f := Field{Name: name}
	if s == nil {
		return f, errors.New("has no schema")
	}
	f.Title, f.Description, f.Default, f.Type = s.Title, s.Description, s.Default, s.Type
	if f.Type == "" && len(s.Types) == 0 && (len(s.OneOf) > 0 || len(s.Enum) > 0) {
		f.Type = "string"
	}
	if err := checkFieldKeywords(s); err != nil {
		return f, err
	}
	switch f.Type {
	case "number", "integer", "boolean":
		return scalarFromSchema(f, s)
	case "string":
		return stringFromSchema(f, s)
	case "array":
		return listFromSchema(f, s)
	case "object":
		return f, errors.New("is an object; a form is flat")
	}
	return f, errors.New("has no single type out of string, number, integer, boolean and array")
}

func scalarFromSchema(f Field, s *jsonschema.Schema) (Field, error) {
	if s.Enum != nil || len(s.OneOf) > 0 {
		return f, errors.New("has choices that are not text; choices are strings")
	}
	if f.Type == "boolean" {
		return f, nil
	}
	f.Minimum, f.Maximum, f.Step = s.Minimum, s.Maximum, s.MultipleOf
	return f, f.validateBounds()
}

func stringFromSchema(f Field, s *jsonschema.Schema) (_ Field, err error) {
	if f.Choices, err = choicesFromSchema(s, s.OneOf); err != nil || len(f.Choices) > 0 {
		return f, err
	}
	f.Format, f.Pattern = s.Format, s.Pattern
	f.MinLength, f.MaxLength = intOrZero(s.MinLength), intOrZero(s.MaxLength)
	switch f.Format {
	case "", "email", "uri", "date", "date-time":
		if f.Format == "" && s.Pattern == TimePattern {
			f.Format = FormatTime
		}
	case FormatTime:
		if f.Pattern == "" {
			f.Pattern = TimePattern
		}
		if f.Pattern != TimePattern {
			return f, errors.New("has the format time and a pattern; a form supports one of them")
		}
	default:
		return f, fmt.Errorf("has the format %q; %w", f.Format, errUnknownFormat)
	}
	switch {
	case s.ContentEncoding != "" || s.ContentMediaType != "":
		return f, errors.New("is encoded; a form has plain text")
	case s.MaxLength != nil && f.MaxLength == 0:
		return f, errors.New("allows no characters")
	}
	return f, f.validateBounds()
}

func listFromSchema(f Field, s *jsonschema.Schema) (_ Field, err error) {
	if s.Items == nil || s.Items.Type != "string" && (s.Items.Type != "" || len(s.Items.Types) > 0) {
		return f, errors.New("is a list of anything; a form has lists of choices")
	}
	if len(s.PrefixItems) > 0 || s.Contains != nil || s.Enum != nil || len(s.OneOf) > 0 {
		return f, errors.New("is a list with rules that a form doesn't support")
	}
	f.MinItems, f.MaxItems = intOrZero(s.MinItems), intOrZero(s.MaxItems)
	if s.MaxItems != nil && f.MaxItems == 0 {
		return f, errors.New("allows no items")
	}
	f.Choices, err = choicesFromSchema(s.Items, slices.Concat(s.Items.AnyOf, s.Items.OneOf))
	if err == nil && len(f.Choices) == 0 {
		err = errNoChoices
	}
	if err == nil {
		err = f.validateBounds()
	}
	return f, err
}

// choicesFromSchema returns the plain or titled choices of a schema, which must be
// strings. It reads the titles of earlier MCP versions (enumNames) too, and drops
// duplicates.
func choicesFromSchema(s *jsonschema.Schema, titled []*jsonschema.Schema) ([]Choice, error) {
	enum := s.Enum
	titles, _ := s.Extra["enumNames"].([]any)
	if enum != nil && len(titled) > 0 || enum != nil && len(enum) == 0 {
		return nil, errors.New("needs one list of choices")
	}
	var choices []Choice
	known := make(map[string]bool)
	add := func(value any, title string) error {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("has the choice %v; choices are strings", value)
		}
		if !known[text] {
			known[text] = true
			choices = append(choices, Choice{text, title})
		}
		return nil
	}
	for i, v := range enum {
		title := ""
		if len(titles) == len(enum) {
			title, _ = titles[i].(string)
		}
		if err := add(v, title); err != nil {
			return nil, err
		}
	}
	for _, s := range titled {
		if s == nil || s.Const == nil {
			return nil, errors.New("has alternatives that are not constants; a form supports only choices")
		}
		if err := add(*s.Const, s.Title); err != nil {
			return nil, err
		}
	}
	return choices, nil
}

// checkFieldKeywords returns an error for keywords that a form would ignore.
func checkFieldKeywords(s *jsonschema.Schema) error {
	switch {
	case s.Ref != "" || s.DynamicRef != "":
		return errors.New("refers to another schema; a form is flat")
	case len(s.AllOf) > 0 || s.Not != nil || s.If != nil || len(s.AnyOf) > 0:
		return errors.New("is conditional; a form is flat")
	case s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil:
		return errors.New("has an exclusive bound; a form supports minimum and maximum")
	case s.Const != nil:
		return errors.New("is a constant; there is nothing to ask")
	}
	return nil
}

// checkObjectKeywords returns an error for keywords that make an object's properties
// depend on each other or allow others.
func checkObjectKeywords(s *jsonschema.Schema) error {
	if err := checkFieldKeywords(s); err != nil {
		return err
	}
	switch {
	case len(s.OneOf) > 0 || len(s.DependentRequired) > 0 || len(s.DependentSchemas) > 0 ||
		len(s.DependencySchemas) > 0 || len(s.DependencyStrings) > 0:
		return errors.New("is conditional; a form is flat")
	case len(s.PatternProperties) > 0 || s.PropertyNames != nil || s.MinProperties != nil || s.MaxProperties != nil:
		return errors.New("has properties without names; a form has fields")
	case len(s.Properties) == 0 && s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil:
		return errors.New("is a map; a form has fields")
	}
	return nil
}

func intOrZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
