package form

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/rawjson"
)

// variantsOf returns the variants of which a value is one, or nil.
func (b *builder) variantsOf(s *jsonschema.Schema) []*jsonschema.Schema {
	switch {
	case len(s.OneOf) > 0 && !onlyRequire(s.OneOf):
		return s.OneOf
	case len(s.AnyOf) > 0 && !onlyRequire(s.AnyOf):
		return s.AnyOf
	case len(s.Types) > 1:
		variants := make([]*jsonschema.Schema, len(s.Types))
		for i, t := range s.Types {
			variants[i] = &jsonschema.Schema{Type: t}
		}
		return variants
	}
	return nil
}

// onlyRequire reports whether alternatives say only which members there must be, so that
// the form is the same for all of them.
func onlyRequire(alternatives []*jsonschema.Schema) bool {
	return !slices.ContainsFunc(alternatives, func(s *jsonschema.Schema) bool {
		if s == nil {
			return true
		}
		rest := *s
		rest.Required, rest.Title, rest.Description, rest.Not = nil, "", "", nil
		return !isEmpty(&rest)
	})
}

// choice makes p one of several variants.
func (b *builder) choice(p *Part, s *jsonschema.Schema, variants []*jsonschema.Schema, in input) *Part {
	p.Kind = Choice
	if len(variants) > maxVariants {
		return asJSON(p, in, "There are too many variants for a form, so the value is edited as JSON.")
	}
	p.Variants = b.titlesOf(variants)
	p.Variant = b.chosen(p, variants, in)
	if p.Variant < 0 {
		if in.mode == exactly && in.value != nil {
			return asJSON(p, in, "The value is none of the variants, so it is edited as JSON.")
		}
		return p
	}
	base := *s
	base.OneOf, base.AnyOf, base.Default = nil, nil, nil
	if len(s.OneOf) > 0 && onlyRequire(s.OneOf) || len(s.AnyOf) > 0 && onlyRequire(s.AnyOf) {
		base.Properties = s.Properties
	}
	if len(s.OneOf)+len(s.AnyOf) == 0 {
		base.Types = nil
	}
	for _, name := range propertyNames(&base) {
		p.Shared = append(p.Shared, joinInput(p.Input, name))
	}
	variant, conditions, err := b.resolve(variants[p.Variant])
	if err == nil {
		variant, err = b.merge(requireConstants(variant), &base, maxReferences)
	}
	if err != nil {
		return asJSON(p, in, "This part is edited as JSON, because "+err.Error()+".")
	}
	at := place{name: p.Name, input: p.Input, pointer: p.Pointer, token: p.token, required: true, row: p.Row, depth: p.depth + 1}
	if p.Input == "" {
		at.depth = p.depth
	}
	merged := *variant
	merged.Description = ""
	if own := variants[p.Variant]; own != nil && own.Description != s.Description {
		merged.Description = own.Description
	}
	if len(conditions) > 0 {
		merged.AllOf = nil
	}
	inner := b.part(&merged, at, in)
	inner.Title = p.Variants[p.Variant]
	p.Parts = []*Part{inner}
	return p
}

// requireConstants requires an object's constants, which tell variants apart.
func requireConstants(s *jsonschema.Schema) *jsonschema.Schema {
	c := *s
	c.Required = slices.Clone(s.Required)
	for _, name := range propertyNames(s) {
		if property := s.Properties[name]; property != nil && (property.Const != nil || len(property.Enum) == 1) {
			c.Required = append(c.Required, name)
		}
	}
	return &c
}

// chosen returns the index of the variant that the input has, or -1 for none.
func (b *builder) chosen(p *Part, variants []*jsonschema.Schema, in input) int {
	first := -1
	if p.Required && !p.nullable || p.Row {
		first = 0
	}
	switch in.mode {
	case exactly:
		if in.value == nil {
			return -1
		}
		return b.variantFor(variants, in.value)
	case posted, link:
		if text, ok := in.last(p.VariantInput()); ok {
			i, err := strconv.Atoi(text)
			if err != nil || i < 0 || i >= len(variants) {
				return -1
			}
			return i
		}
		if _, ok := in.posted[p.Input]; ok || p.isThere(in) {
			return max(first, 0)
		}
	}
	return first
}

// variantFor returns the variant that a value most likely is, or -1 if it is of another
// type than all of them.
func (b *builder) variantFor(variants []*jsonschema.Schema, raw json.RawMessage) int {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return -1
	}
	for i, s := range variants {
		if b.fits(s, v, maxReferences) {
			return i
		}
	}
	best, most := -1, 0
	for i, s := range variants {
		if score := b.likeness(s, v); score > most {
			best, most = i, score
		}
	}
	return best
}

// likeness says how much a value that doesn't fit a schema resembles those that do; 0 if
// it is of another type.
func (b *builder) likeness(s *jsonschema.Schema, v any) int {
	r, _, err := b.resolve(s)
	if err != nil {
		return 0
	}
	t := kindOfType(r)
	if t != "" && !hasType(v, t) {
		return 0
	}
	score := 1
	members, _ := v.(map[string]any)
	for name, member := range members {
		property := r.Properties[name]
		switch {
		case property == nil:
		case property.Const != nil && reflect.DeepEqual(*property.Const, member):
			score += 1000
		default:
			score++
		}
	}
	return score
}

// titlesOf returns what to call variants.
func (b *builder) titlesOf(variants []*jsonschema.Schema) []string {
	titles := make([]string, len(variants))
	seen := map[string]int{}
	for i, s := range variants {
		title := b.titleOf(s)
		if title == "" {
			title = "Variant " + strconv.Itoa(i+1)
		}
		if seen[title]++; seen[title] > 1 {
			title += " (" + strconv.Itoa(seen[title]) + ")"
		}
		titles[i] = title
	}
	return titles
}

func (b *builder) titleOf(s *jsonschema.Schema) string {
	r, _, err := b.resolve(s)
	if err != nil || s == nil {
		return ""
	}
	if r.Title != "" {
		return r.Title
	}
	for _, name := range propertyNames(r) { // what tells variants apart
		property := r.Properties[name]
		if property == nil {
			continue
		}
		if property.Const != nil {
			return nameOf(*property.Const)
		}
		if len(property.Enum) == 1 {
			return nameOf(property.Enum[0])
		}
	}
	if i := strings.LastIndex(s.Ref, "/"); i >= 0 && s.Ref[i+1:] != "" {
		return s.Ref[i+1:]
	}
	switch kindOfType(r) {
	case "string":
		return "Text"
	case "number":
		return "Number"
	case "integer":
		return "Whole number"
	case "boolean":
		return "Yes or no"
	case "array":
		return "List"
	case "object":
		if len(r.Required) > 0 {
			return strings.Join(r.Required[:min(len(r.Required), 3)], ", ")
		}
		return "Object"
	}
	return ""
}

func nameOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(rawjson.Compact(mustMarshal(v)))
}
