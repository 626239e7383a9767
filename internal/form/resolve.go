package form

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxReferences is how many references and combinations lead to one part's schema.
const maxReferences = 32

// resolve returns a schema without $ref and allOf. Conditions are the subschemas that
// apply only to some values. The error says what a form can't represent.
func (b *builder) resolve(s *jsonschema.Schema) (resolved *jsonschema.Schema, conditions []condition, err error) {
	return b.resolveWithin(s, maxReferences)
}

// A condition is a subschema that applies to values that fit another.
type condition struct{ when, then, otherwise *jsonschema.Schema }

var errTooManyReferences = errors.New("its schema refers to itself, or to too many others")

func (b *builder) resolveWithin(s *jsonschema.Schema, left int) (*jsonschema.Schema, []condition, error) {
	if s == nil {
		return &jsonschema.Schema{}, nil, nil
	}
	if b.steps++; left == 0 || b.steps > maxSteps {
		return nil, nil, errTooManyReferences
	}
	if s.DynamicRef != "" {
		return nil, nil, errors.New("its schema refers to another by $dynamicRef")
	}
	conditions := conditionsOf(s)
	if s.Ref == "" && len(s.AllOf) == 0 && len(conditions) == 0 {
		return s, nil, nil
	}
	own := *s
	own.Ref, own.AllOf, own.If, own.Then, own.Else, own.DependentSchemas = "", nil, nil, nil, nil, nil
	merged, others := &own, s.AllOf
	if s.Ref != "" {
		target, err := b.lookUp(s.Ref)
		if err != nil {
			return nil, nil, err
		}
		others = append([]*jsonschema.Schema{target}, others...)
	}
	for _, other := range others {
		r, more, err := b.resolveWithin(other, left-1)
		if err == nil {
			merged, err = b.merge(merged, r, left-1)
		}
		if err != nil {
			return nil, nil, err
		}
		conditions = append(conditions, more...)
	}
	return merged, conditions, nil
}

func conditionsOf(s *jsonschema.Schema) []condition {
	var list []condition
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		list = append(list, condition{s.If, s.Then, s.Else})
	}
	for _, name := range sortedNames(s.DependentSchemas) {
		list = append(list, condition{&jsonschema.Schema{Required: []string{name}}, s.DependentSchemas[name], nil})
	}
	return list
}

// lookUp returns the schema that a reference within the document names.
func (b *builder) lookUp(ref string) (*jsonschema.Schema, error) {
	if found := b.references[ref]; found != nil {
		return found, nil
	}
	fragment, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil {
		return nil, fmt.Errorf("its schema refers to another document, %s", ref)
	}
	found := b.root
	if pointer != "" {
		tokens := strings.Split(pointer, "/")
		if tokens[0] != "" { // an anchor
			found = b.anchors()[pointer]
		} else {
			found = follow(b.root, tokens[1:])
		}
	}
	if found == nil {
		return nil, fmt.Errorf("its schema refers to %s, which isn't there", ref)
	}
	b.references[ref] = found
	return found, nil
}

// follow returns the subschema at a JSON Pointer, or nil.
func follow(s *jsonschema.Schema, tokens []string) *jsonschema.Schema {
	for len(tokens) > 0 && s != nil {
		keyword := tokens[0]
		tokens = tokens[1:]
		if child, ok := single(s, keyword); ok {
			s = child
			continue
		}
		if len(tokens) == 0 {
			return nil
		}
		token := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[0])
		tokens = tokens[1:]
		s = oneOfSeveral(s, keyword, token)
	}
	return s
}

// single returns the subschema that a keyword holds.
func single(s *jsonschema.Schema, keyword string) (*jsonschema.Schema, bool) {
	switch keyword {
	case "items":
		return s.Items, s.ItemsArray == nil
	case "additionalProperties":
		return s.AdditionalProperties, true
	case "if":
		return s.If, true
	case "then":
		return s.Then, true
	case "else":
		return s.Else, true
	case "not":
		return s.Not, true
	case "contains":
		return s.Contains, true
	}
	return nil, false
}

// oneOfSeveral returns one of the subschemas that a keyword holds.
func oneOfSeveral(s *jsonschema.Schema, keyword, token string) *jsonschema.Schema {
	switch keyword {
	case "$defs":
		return s.Defs[token]
	case "definitions":
		return s.Definitions[token]
	case "properties":
		return s.Properties[token]
	case "patternProperties":
		return s.PatternProperties[token]
	case "dependentSchemas":
		return s.DependentSchemas[token]
	}
	list := map[string][]*jsonschema.Schema{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf, "prefixItems": s.PrefixItems, "items": s.ItemsArray}[keyword]
	if i, err := strconv.Atoi(token); err == nil && 0 <= i && i < len(list) {
		return list[i]
	}
	return nil
}

// anchors returns the document's schemas that have an $anchor.
func (b *builder) anchors() map[string]*jsonschema.Schema {
	if b.byAnchor == nil {
		b.byAnchor = map[string]*jsonschema.Schema{}
		for _, defs := range []map[string]*jsonschema.Schema{b.root.Defs, b.root.Definitions} {
			for _, s := range defs {
				if s != nil && s.Anchor != "" {
					b.byAnchor[s.Anchor] = s
				}
			}
		}
	}
	return b.byAnchor
}
