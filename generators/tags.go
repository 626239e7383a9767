package generators

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	infer "github.com/google/jsonschema-go/jsonschema"
)

// annotate writes what a type's struct tags say into its schema.
func annotate(t reflect.Type, s *infer.Schema) error {
	dropNull(s)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && s.Items != nil:
		return annotate(t.Elem(), s.Items)
	case t.Kind() == reflect.Map && s.AdditionalProperties != nil:
		return annotate(t.Elem(), s.AdditionalProperties)
	case t.Kind() != reflect.Struct || s.Properties == nil:
		if t.PkgPath() == "time" && t.Name() == "Time" {
			s.Format = "date-time"
		}
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		property := s.Properties[name]
		if property == nil || !f.IsExported() {
			continue
		}
		if err := annotate(f.Type, property); err != nil {
			return err
		}
		if err := tagField(f.Tag, property); err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
	}
	return nil
}

// dropNull removes "or null" from what pointers and slices infer to: a missing
// value is left out here, never null.
func dropNull(s *infer.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func tagField(tag reflect.StructTag, s *infer.Schema) error {
	for keyword, set := range setters {
		value, ok := tag.Lookup(keyword)
		if !ok {
			continue
		}
		if err := set(s, value); err != nil {
			return fmt.Errorf("tag %s:%q: %w", keyword, value, err)
		}
	}
	return tagChoices(tag, s)
}

// setters write one tag each.
var setters = map[string]func(*infer.Schema, string) error{
	"title":       func(s *infer.Schema, v string) error { s.Title = v; return nil },
	"description": func(s *infer.Schema, v string) error { s.Description = v; return nil },
	"format":      func(s *infer.Schema, v string) error { s.Format = v; return of(s, "string") },
	"pattern":     func(s *infer.Schema, v string) error { s.Pattern = v; return of(s, "string") },
	"minLength":   func(s *infer.Schema, v string) error { return count(&s.MinLength, v, of(s, "string")) },
	"maxLength":   func(s *infer.Schema, v string) error { return count(&s.MaxLength, v, of(s, "string")) },
	"minItems":    func(s *infer.Schema, v string) error { return count(&s.MinItems, v, of(s, "array")) },
	"maxItems":    func(s *infer.Schema, v string) error { return count(&s.MaxItems, v, of(s, "array")) },
	"minimum":     func(s *infer.Schema, v string) error { return number(&s.Minimum, v, of(s, "number", "integer")) },
	"maximum":     func(s *infer.Schema, v string) error { return number(&s.Maximum, v, of(s, "number", "integer")) },
	"multipleOf":  func(s *infer.Schema, v string) error { return number(&s.MultipleOf, v, of(s, "number", "integer")) },
	"default":     setDefault,
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
		return fmt.Errorf("must be a whole number, 0 or more")
	}
	*to = &n
	return nil
}

func number(to **float64, value string, err error) error {
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("must be a number")
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
		raw = marshal(strings.Split(value, ","))
	}
	if !json.Valid(raw) {
		return fmt.Errorf("must be a JSON %s", s.Type)
	}
	s.Default = raw
	return nil
}

// tagChoices writes the tags enum and enumTitles: plain choices as enum, titled
// ones as MCP wants them, oneOf for a single and anyOf for several.
func tagChoices(tag reflect.StructTag, s *infer.Schema) error {
	list, ok := tag.Lookup("enum")
	if !ok {
		return nil
	}
	target := s
	if s.Type == "array" && s.Items != nil {
		target = s.Items
	}
	if err := of(target, "string"); err != nil {
		return fmt.Errorf("tag enum: %w", err)
	}
	values := strings.Split(list, ",")
	titles := values
	if t, titled := tag.Lookup("enumTitles"); titled {
		if titles = strings.Split(t, ","); len(titles) != len(values) {
			return fmt.Errorf("tag enumTitles: %d titles for %d values", len(titles), len(values))
		}
		options := make([]*infer.Schema, len(values))
		for i, v := range values {
			options[i] = &infer.Schema{Const: new(any(v)), Title: titles[i]}
		}
		if target == s {
			s.OneOf = options
		} else {
			target.AnyOf = options
		}
		return nil
	}
	for _, v := range values {
		target.Enum = append(target.Enum, v)
	}
	return nil
}
