package form

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// fits reports whether a decoded value seems to fit a schema. It looks at what tells
// variants apart, and ignores other rules: it decides what a form shows, not what is
// valid.
func (b *builder) fits(s *jsonschema.Schema, v any, left int) bool {
	if s == nil {
		return true
	}
	if b.steps++; left == 0 || b.steps > maxSteps {
		return false
	}
	every := func(list []*jsonschema.Schema) bool {
		return !slices.ContainsFunc(list, func(s *jsonschema.Schema) bool { return !b.fits(s, v, left-1) })
	}
	some := func(list []*jsonschema.Schema) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s *jsonschema.Schema) bool { return b.fits(s, v, left-1) })
	}
	if s.Ref != "" {
		if target, err := b.lookUp(s.Ref); err != nil || !b.fits(target, v, left-1) {
			return false
		}
	}
	types := typesOf(s)
	switch {
	case len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return hasType(v, t) }),
		s.Const != nil && !reflect.DeepEqual(*s.Const, v),
		s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }),
		s.Not != nil && b.fits(s.Not, v, left-1):
		return false
	}
	return every(s.AllOf) && some(s.AnyOf) && some(s.OneOf) && b.partsFit(s, v, left)
}

// partsFit reports whether the parts of a value, or its length, seem to fit.
func (b *builder) partsFit(s *jsonschema.Schema, v any, left int) bool {
	switch v := v.(type) {
	case map[string]any:
		return b.membersFit(s, v, left)
	case []any:
		if s.Items != nil && len(s.PrefixItems) == 0 && len(v) > 0 {
			return b.fits(s.Items, v[0], left-1)
		}
	case string:
		n := utf8.RuneCountInString(v)
		return (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength) && b.matches(s.Pattern, v)
	case float64:
		return (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum)
	}
	return true
}

func (b *builder) membersFit(s *jsonschema.Schema, members map[string]any, left int) bool {
	for _, name := range s.Required {
		if _, ok := members[name]; !ok {
			return false
		}
	}
	b.steps += len(members)
	for name, v := range members {
		property, known := s.Properties[name]
		if known && !b.fits(property, v, left-1) {
			return false
		}
		if !known && isFalse(s.AdditionalProperties) && len(s.PatternProperties) == 0 {
			return false
		}
	}
	return true
}

// isFalse reports whether a schema accepts nothing.
func isFalse(s *jsonschema.Schema) bool { return s != nil && s.Not != nil && isEmpty(s.Not) }

func hasType(v any, t string) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

// matches reports whether a text matches a pattern. Text matches a pattern that Go can't
// compile.
func (b *builder) matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	compiled, ok := b.patterns[pattern]
	if !ok {
		compiled, _ = regexp.Compile(pattern)
		b.patterns[pattern] = compiled
	}
	b.steps += len(text) / 16
	return compiled == nil || compiled.MatchString(text)
}
