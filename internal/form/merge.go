package form

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

var errCantCombine = errors.New("its schema combines others in a way that a form can't show")

// merge returns a schema for the values that fit both a and c, with the annotations of a.
// Rules of which a form shows only one are a's: the whole schema is checked anyway.
func (b *builder) merge(a, c *jsonschema.Schema, left int) (*jsonschema.Schema, error) {
	if isEmpty(c) {
		return a, nil
	}
	if b.steps += 1 + len(a.Properties) + len(c.Properties); left == 0 || b.steps > maxSteps {
		return nil, errTooManyReferences
	}
	m := *a
	mergeAnnotations(&m, c)
	mergeBounds(&m, c)
	if err := mergeTypes(&m, c); err != nil {
		return nil, err
	}
	for _, pair := range [][2]*[]*jsonschema.Schema{{&m.OneOf, &c.OneOf}, {&m.AnyOf, &c.AnyOf}, {&m.PrefixItems, &c.PrefixItems}} {
		if err := mergeLists(pair[0], *pair[1]); err != nil {
			return nil, err
		}
	}
	if m.Enum == nil {
		m.Enum = c.Enum
	} else if c.Enum != nil {
		m.Enum = slices.DeleteFunc(slices.Clone(m.Enum), func(v any) bool {
			return !slices.ContainsFunc(c.Enum, func(w any) bool { return reflect.DeepEqual(v, w) })
		})
	}
	m.Const = cmp.Or(m.Const, c.Const)
	m.Required = slices.Concat(m.Required, c.Required)
	var err error
	if m.Properties, err = b.mergeMaps(m.Properties, c.Properties, left); err != nil {
		return nil, err
	}
	m.PropertyOrder = appendNew(propertyNames(a), propertyNames(c))
	if m.PatternProperties, err = b.mergeMaps(m.PatternProperties, c.PatternProperties, left); err != nil {
		return nil, err
	}
	for _, pair := range [][2]**jsonschema.Schema{{&m.Items, &c.Items}, {&m.AdditionalProperties, &c.AdditionalProperties}, {&m.PropertyNames, &c.PropertyNames}} {
		if *pair[0], err = b.mergeBoth(*pair[0], *pair[1], left); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

func isEmpty(s *jsonschema.Schema) bool { return reflect.ValueOf(*s).IsZero() }

func mergeAnnotations(m, c *jsonschema.Schema) {
	m.Title = cmp.Or(m.Title, c.Title)
	m.Description = cmp.Or(m.Description, c.Description)
	if m.Default == nil {
		m.Default = c.Default
	}
	if m.Examples == nil {
		m.Examples = c.Examples
	}
	if m.Extra == nil {
		m.Extra = c.Extra
	}
	m.Deprecated = m.Deprecated || c.Deprecated
	m.ReadOnly = m.ReadOnly || c.ReadOnly
	m.WriteOnly = m.WriteOnly || c.WriteOnly
	m.Format = cmp.Or(m.Format, c.Format)
	m.Pattern = cmp.Or(m.Pattern, c.Pattern)
	m.ContentEncoding = cmp.Or(m.ContentEncoding, c.ContentEncoding)
	m.ContentMediaType = cmp.Or(m.ContentMediaType, c.ContentMediaType)
}

func mergeBounds(m, c *jsonschema.Schema) {
	m.Minimum, m.ExclusiveMinimum = stricter(m.Minimum, c.Minimum, 1), stricter(m.ExclusiveMinimum, c.ExclusiveMinimum, 1)
	m.Maximum, m.ExclusiveMaximum = stricter(m.Maximum, c.Maximum, -1), stricter(m.ExclusiveMaximum, c.ExclusiveMaximum, -1)
	m.MinLength, m.MinItems = stricter(m.MinLength, c.MinLength, 1), stricter(m.MinItems, c.MinItems, 1)
	m.MaxLength, m.MaxItems = stricter(m.MaxLength, c.MaxLength, -1), stricter(m.MaxItems, c.MaxItems, -1)
	m.MultipleOf = cmp.Or(m.MultipleOf, c.MultipleOf)
	m.UniqueItems = m.UniqueItems || c.UniqueItems
}

// stricter returns the greater of two bounds, or the lesser if sign is -1.
func stricter[T int | float64](a, b *T, sign int) *T {
	if a == nil || b != nil && cmp.Compare(*b, *a) == sign {
		return b
	}
	return a
}

// mergeTypes sets the types that both schemas allow.
func mergeTypes(m, c *jsonschema.Schema) error {
	ours, theirs := typesOf(m), typesOf(c)
	switch {
	case len(theirs) == 0:
		return nil
	case len(ours) == 0:
		m.Type, m.Types = c.Type, c.Types
		return nil
	}
	var both []string
	for _, t := range ours {
		switch {
		case slices.Contains(theirs, t), t == "integer" && slices.Contains(theirs, "number"):
			both = append(both, t)
		case t == "number" && slices.Contains(theirs, "integer"):
			both = append(both, "integer")
		}
	}
	if len(both) == 0 {
		return errCantCombine
	}
	setTypes(m, both)
	return nil
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func setTypes(s *jsonschema.Schema, types []string) {
	s.Type, s.Types = "", nil
	if len(types) == 1 {
		s.Type = types[0]
	} else {
		s.Types = types
	}
}

func mergeLists(m *[]*jsonschema.Schema, c []*jsonschema.Schema) error {
	if len(*m) > 0 && len(c) > 0 {
		return errCantCombine
	}
	if len(*m) == 0 {
		*m = c
	}
	return nil
}

func (b *builder) mergeMaps(a, c map[string]*jsonschema.Schema, left int) (map[string]*jsonschema.Schema, error) {
	if len(c) == 0 {
		return a, nil
	}
	merged := make(map[string]*jsonschema.Schema, len(a)+len(c))
	maps.Copy(merged, a)
	for name, s := range c {
		both, err := b.mergeBoth(merged[name], s, left)
		if err != nil {
			return nil, err
		}
		merged[name] = both
	}
	return merged, nil
}

// mergeBoth merges two schemas either of which may be nil. A form shows the member of
// two objects that can't be merged as the second has it.
func (b *builder) mergeBoth(a, c *jsonschema.Schema, left int) (*jsonschema.Schema, error) {
	switch {
	case a == nil || a == c:
		return c, nil
	case c == nil:
		return a, nil
	}
	if b.steps++; b.steps > maxSteps {
		return nil, errTooManyReferences
	}
	// Their references are followed once the member is shown.
	return &jsonschema.Schema{Title: cmp.Or(c.Title, a.Title), AllOf: []*jsonschema.Schema{c, a}}, nil
}

// appendNew appends the names that list doesn't have.
func appendNew(list, more []string) []string {
	seen := make(map[string]bool, len(list))
	for _, name := range list {
		seen[name] = true
	}
	for _, name := range more {
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// propertyNames returns the names of an object's properties in their order, those
// without one last and by name.
func propertyNames(s *jsonschema.Schema) []string {
	ordered := appendNew(nil, s.PropertyOrder)
	ordered = slices.DeleteFunc(ordered, func(name string) bool { _, ok := s.Properties[name]; return !ok })
	return appendNew(ordered, sortedNames(s.Properties))
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
