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

// applyTags writes what a type's struct tags say into its schema. With nulls,
// the parts that may be nil may be null.
func applyTags(t reflect.Type, s *infer.Schema, nulls bool) error {
	removeNull(s)
	t = dereference(t)
	part := s.Items
	switch t.Kind() {
	case reflect.Map:
		part = s.AdditionalProperties
		fallthrough
	case reflect.Slice, reflect.Array:
		if part == nil {
			return nil
		}
		err := applyTags(t.Elem(), part, nulls)
		if nulls {
			allowNull(t.Elem(), part)
		}
		return err
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			s.Format = "date-time"
			return nil
		}
		return applyFieldTags(t, s, nulls)
	}
	return nil
}

func applyFieldTags(t reflect.Type, s *infer.Schema, nulls bool) error {
	for _, f := range reflect.VisibleFields(t) {
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && s.Properties != nil && (name != "" || dereference(f.Type).Kind() != reflect.Struct) && name != "-" {
			return fmt.Errorf("field %s of %s: is embedded and yet a field of its own in JSON; give it a name", f.Name, t)
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

// removeNull removes "or null" from what pointers and slices infer to: a missing
// value is left out here, never null.
func removeNull(s *infer.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func applyFieldTag(tag reflect.StructTag, s *infer.Schema) error {
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

// checkConsistent refuses bounds that leave no value, and a default that the
// field itself would refuse.
func checkConsistent(s *infer.Schema) error {
	switch {
	case exceeds(s.MinLength, s.MaxLength), exceeds(s.MinItems, s.MaxItems), exceeds(s.Minimum, s.Maximum):
		return errors.New("its least is more than its most")
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

func exceeds[T int | float64](least, most *T) bool {
	return least != nil && most != nil && *least > *most
}

// tagSetters write one tag each.
var tagSetters = map[string]func(*infer.Schema, string) error{
	"title":       func(s *infer.Schema, v string) error { s.Title = v; return nil },
	"description": func(s *infer.Schema, v string) error { s.Description = v; return nil },
	"format":      func(s *infer.Schema, v string) error { s.Format = v; return ofType(s, "string") },
	"pattern":     setPattern,
	"minLength":   func(s *infer.Schema, v string) error { return setCount(&s.MinLength, v, ofType(s, "string")) },
	"maxLength":   func(s *infer.Schema, v string) error { return setCount(&s.MaxLength, v, ofType(s, "string")) },
	"minItems":    func(s *infer.Schema, v string) error { return setCount(&s.MinItems, v, ofType(s, "array")) },
	"maxItems":    func(s *infer.Schema, v string) error { return setCount(&s.MaxItems, v, ofType(s, "array")) },
	"minimum":     func(s *infer.Schema, v string) error { return setNumber(&s.Minimum, v, ofType(s, "number", "integer")) },
	"maximum":     func(s *infer.Schema, v string) error { return setNumber(&s.Maximum, v, ofType(s, "number", "integer")) },
	"multipleOf":  setMultipleOf,
	"default":     setDefault,
}

func setPattern(s *infer.Schema, v string) error {
	s.Pattern = v
	if _, err := regexp.Compile(v); err != nil {
		return err
	}
	return ofType(s, "string")
}

func setMultipleOf(s *infer.Schema, v string) error {
	if err := setNumber(&s.MultipleOf, v, ofType(s, "number", "integer")); err != nil {
		return err
	}
	if *s.MultipleOf <= 0 {
		return errors.New("must be more than 0")
	}
	return nil
}

// ofType reports an error unless the schema is of one of the types.
func ofType(s *infer.Schema, types ...string) error {
	for _, t := range types {
		if s.Type == t {
			return nil
		}
	}
	return fmt.Errorf("is for %s, and the field is of type %q", strings.Join(types, " and "), s.Type)
}

func setCount(to **int, value string, err error) error {
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("must be a whole number, 0 or more")
	}
	*to = &n
	return nil
}

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

// setDefault takes text for strings, a list separated by commas for slices,
// and JSON for the rest.
func setDefault(s *infer.Schema, value string) error {
	raw := json.RawMessage(value)
	switch s.Type {
	case "string":
		raw = mustMarshal(value)
	case "array":
		raw = mustMarshal(splitList(value))
	}
	if !json.Valid(raw) {
		return fmt.Errorf("must be a JSON %s", s.Type)
	}
	s.Default = raw
	return nil
}
