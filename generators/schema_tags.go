package generators

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	infer "github.com/google/jsonschema-go/jsonschema"
)

// applyTags adds the rules of a type's struct tags to its schema. If nulls is true,
// parts that may be nil may also be null.
func applyTags(t reflect.Type, s *infer.Schema, nulls bool) error {
	removeNull(s)
	t = dereference(t)
	switch t.Kind() {
	case reflect.Interface:
		listTypes(s)
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface || t.Elem() == rawType {
			return nil // additional properties may have no rules
		}
		return applyElementTags(t, s.AdditionalProperties, nulls)
	case reflect.Slice, reflect.Array:
		if t == rawType {
			listTypes(s)
			return nil
		}
		return applyElementTags(t, s.Items, nulls)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			s.Format = "date-time"
			return nil
		}
		return applyFieldTags(t, s, nulls)
	}
	return nil
}

// applyElementTags adds the rules of the element type of t to its schema, which may
// be nil.
func applyElementTags(t reflect.Type, element *infer.Schema, nulls bool) error {
	if element == nil {
		return nil
	}
	if err := applyTags(t.Elem(), element, nulls); err != nil {
		return err
	}
	if nulls {
		allowNull(t.Elem(), element)
	}
	return nil
}

func applyFieldTags(t reflect.Type, s *infer.Schema, nulls bool) error {
	for _, f := range reflect.VisibleFields(t) {
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && s.Properties != nil && (name != "" || dereference(f.Type).Kind() != reflect.Struct) && name != "-" {
			return fmt.Errorf("field %s of %s: is embedded, but JSON has it as a field of its own; give it a name instead", f.Name, t)
		}
		property := s.Properties[cmp.Or(name, f.Name)]
		if property == nil || f.Anonymous || !f.IsExported() {
			continue
		}
		if err := applyTags(f.Type, property, nulls); err != nil {
			return err
		}
		if err := applyFieldTag(f.Tag, property); err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		if nulls && omit == "" {
			allowNull(f.Type, property)
		}
	}
	return nil
}

func dereference(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// removeNull removes the type null, which the schemas inferred for pointers and slices
// have: missing values are omitted, never null.
func removeNull(s *infer.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func applyFieldTag(tag reflect.StructTag, s *infer.Schema) error {
	if err := checkTagNames(tag); err != nil {
		return err
	}
	for _, keyword := range slices.Sorted(maps.Keys(tagSetters)) {
		value, ok := tag.Lookup(keyword)
		if !ok {
			continue
		}
		if err := tagSetters[keyword](s, value); err != nil {
			return fmt.Errorf("tag %s:%q: %w", keyword, value, err)
		}
	}
	if err := applyChoiceTags(tag, s); err != nil {
		return err
	}
	return checkConsistent(s)
}

// checkConsistent returns an error if no value can satisfy the bounds, or if the
// default is invalid.
func checkConsistent(s *infer.Schema) error {
	switch {
	case exceeds(s.MinLength, s.MaxLength), exceeds(s.MinItems, s.MaxItems), exceeds(s.Minimum, s.Maximum):
		return errors.New("its minimum is greater than its maximum")
	case s.Default == nil:
		return nil
	}
	own, err := newSchema(s)
	if err == nil {
		err = own.Validate(s.Default)
	}
	if err != nil {
		return fmt.Errorf("its default %s %w", s.Default, err)
	}
	return nil
}

func exceeds[T int | float64](minimum, maximum *T) bool {
	return minimum != nil && maximum != nil && *minimum > *maximum
}

// tagSetters has a function for each tag that sets a keyword of a schema.
var tagSetters = map[string]func(*infer.Schema, string) error{
	"title":       func(s *infer.Schema, v string) error { s.Title = v; return nil },
	"description": func(s *infer.Schema, v string) error { s.Description = v; return nil },
	"format":      setFormat,
	"pattern":     setPattern,
	"minLength":   func(s *infer.Schema, v string) error { return setCount(&s.MinLength, v, requireType(s, "string")) },
	"maxLength":   func(s *infer.Schema, v string) error { return setCount(&s.MaxLength, v, requireType(s, "string")) },
	"minItems":    func(s *infer.Schema, v string) error { return setCount(&s.MinItems, v, requireType(s, "array")) },
	"maxItems":    func(s *infer.Schema, v string) error { return setCount(&s.MaxItems, v, requireType(s, "array")) },
	"minimum": func(s *infer.Schema, v string) error {
		return setNumber(&s.Minimum, v, requireType(s, "number", "integer"))
	},
	"maximum": func(s *infer.Schema, v string) error {
		return setNumber(&s.Maximum, v, requireType(s, "number", "integer"))
	},
	"multipleOf": setMultipleOf,
	"default":    setDefault,
}

func setFormat(s *infer.Schema, v string) error {
	s.Format = v
	return cmp.Or(requireType(s, "string"), checkFormat(v))
}

func setPattern(s *infer.Schema, v string) error {
	s.Pattern = v
	if _, err := regexp.Compile(v); err != nil {
		return err
	}
	return requireType(s, "string")
}

func setMultipleOf(s *infer.Schema, v string) error {
	if err := setNumber(&s.MultipleOf, v, requireType(s, "number", "integer")); err != nil {
		return err
	}
	if *s.MultipleOf <= 0 {
		return errors.New("must be more than 0")
	}
	return nil
}

// requireType returns an error unless the schema has one of the types.
func requireType(s *infer.Schema, types ...string) error {
	for _, t := range types {
		if s.Type == t {
			return nil
		}
	}
	return fmt.Errorf("applies to fields of type %s, but the field has the type %q", strings.Join(types, " or "), s.Type)
}

// setCount sets *to, unless err is an error, which it returns.
func setCount(to **int, value string, err error) error {
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("must be a whole number of 0 or more")
	}
	*to = &n
	return nil
}

// setNumber sets *to, unless err is an error, which it returns.
func setNumber(to **float64, value string, err error) error {
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || finiteOrZero(f) != f {
		return errors.New("must be a number")
	}
	*to = &f
	return nil
}

// setDefault sets the default. The tag's value is plain text for a string, a
// comma-separated list for a slice, and JSON for any other type.
func setDefault(s *infer.Schema, value string) error {
	raw := json.RawMessage(value)
	switch s.Type {
	case "string":
		raw = mustMarshal(value)
	case "array":
		raw = mustMarshal(splitList(value))
	}
	if !json.Valid(raw) {
		return fmt.Errorf("must be JSON of the type %s", s.Type)
	}
	s.Default = raw
	return nil
}
