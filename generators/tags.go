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

// annotate writes what a type's struct tags say into its schema. With nulls,
// the parts that may be nil may be null.
func annotate(t reflect.Type, s *infer.Schema, nulls bool) error {
	dropNull(s)
	t = deref(t)
	part := s.Items
	switch t.Kind() {
	case reflect.Map:
		part = s.AdditionalProperties
		fallthrough
	case reflect.Slice, reflect.Array:
		if part == nil {
			return nil
		}
		err := annotate(t.Elem(), part, nulls)
		if nulls {
			orNull(t.Elem(), part)
		}
		return err
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			s.Format = "date-time"
			return nil
		}
		return annotateFields(t, s, nulls)
	}
	return nil
}

func annotateFields(t reflect.Type, s *infer.Schema, nulls bool) error {
	for _, f := range reflect.VisibleFields(t) {
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && s.Properties != nil && (name != "" || deref(f.Type).Kind() != reflect.Struct) && name != "-" {
			return fmt.Errorf("field %s of %s: is embedded and yet a field of its own in JSON; give it a name", f.Name, t)
		}
		property := s.Properties[cmp.Or(name, f.Name)]
		if property == nil || f.Anonymous || !f.IsExported() {
			continue
		}
		if err := annotate(f.Type, property, nulls); err != nil {
			return err
		}
		if err := tagField(f.Tag, property); err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		if nulls && omit == "" {
			orNull(f.Type, property)
		}
	}
	return nil
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// dropNull removes "or null" from what pointers and slices infer to: a missing
// value is left out here, never null.
func dropNull(s *infer.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func tagField(tag reflect.StructTag, s *infer.Schema) error {
	for _, keyword := range slices.Sorted(maps.Keys(setters)) {
		value, ok := tag.Lookup(keyword)
		if !ok {
			continue
		}
		if err := setters[keyword](s, value); err != nil {
			return fmt.Errorf("tag %s:%q: %w", keyword, value, err)
		}
	}
	if err := tagChoices(tag, s); err != nil {
		return err
	}
	return consistent(s)
}

// consistent refuses bounds that leave no value, and a default that the
// field itself would refuse.
func consistent(s *infer.Schema) error {
	switch {
	case over(s.MinLength, s.MaxLength), over(s.MinItems, s.MaxItems), over(s.Minimum, s.Maximum):
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

func over[T int | float64](least, most *T) bool {
	return least != nil && most != nil && *least > *most
}

// setters write one tag each.
var setters = map[string]func(*infer.Schema, string) error{
	"title":       func(s *infer.Schema, v string) error { s.Title = v; return nil },
	"description": func(s *infer.Schema, v string) error { s.Description = v; return nil },
	"format":      func(s *infer.Schema, v string) error { s.Format = v; return of(s, "string") },
	"pattern":     setPattern,
	"minLength":   func(s *infer.Schema, v string) error { return count(&s.MinLength, v, of(s, "string")) },
	"maxLength":   func(s *infer.Schema, v string) error { return count(&s.MaxLength, v, of(s, "string")) },
	"minItems":    func(s *infer.Schema, v string) error { return count(&s.MinItems, v, of(s, "array")) },
	"maxItems":    func(s *infer.Schema, v string) error { return count(&s.MaxItems, v, of(s, "array")) },
	"minimum":     func(s *infer.Schema, v string) error { return number(&s.Minimum, v, of(s, "number", "integer")) },
	"maximum":     func(s *infer.Schema, v string) error { return number(&s.Maximum, v, of(s, "number", "integer")) },
	"multipleOf":  setStep,
	"default":     setDefault,
}

func setPattern(s *infer.Schema, v string) error {
	s.Pattern = v
	if _, err := regexp.Compile(v); err != nil {
		return err
	}
	return of(s, "string")
}

func setStep(s *infer.Schema, v string) error {
	if err := number(&s.MultipleOf, v, of(s, "number", "integer")); err != nil {
		return err
	}
	if *s.MultipleOf <= 0 {
		return errors.New("must be more than 0")
	}
	return nil
}

// of reports an error unless the schema is of one of the types.
func of(s *infer.Schema, types ...string) error {
	for _, t := range types {
		if s.Type == t {
			return nil
		}
	}
	return fmt.Errorf("is for %s, and the field is of type %q", strings.Join(types, " and "), s.Type)
}

func count(to **int, value string, err error) error {
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

func number(to **float64, value string, err error) error {
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || finite(f) != f {
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
		raw = marshal(value)
	case "array":
		raw = marshal(list(value))
	}
	if !json.Valid(raw) {
		return fmt.Errorf("must be a JSON %s", s.Type)
	}
	s.Default = raw
	return nil
}
