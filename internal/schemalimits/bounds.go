// Package schemalimits bounds how long a JSON Schema, which may come from anywhere, can keep Beam
// busy: its text, its references, and its patterns.
package schemalimits

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of ParseSchema. A schema may come from anywhere; compiling it and
// validating a value must not take long.
const (
	maxLen   = 1 << 20 // bytes
	MaxDepth = 100     // objects and lists within each other
	maxNodes = 10_000  // objects and lists in all
	maxWork  = 10_000  // subschemas that apply to one place of a value
)

// CheckText returns an error if the text of a schema exceeds the limits.
func CheckText(raw []byte) error {
	if len(raw) > maxLen {
		return fmt.Errorf("the schema has %d bytes; at most %d are accepted", len(raw), maxLen)
	}
	depth, nodes := rawjson.Measure(raw)
	if depth > MaxDepth {
		return fmt.Errorf("the schema is nested more than %d deep", MaxDepth)
	}
	if nodes > maxNodes {
		return fmt.Errorf("the schema has more than %d parts", maxNodes)
	}
	return nil
}

// CheckWork returns an error if a schema refers to itself endlessly, or if its
// references multiply so that validating one value would take too long.
func CheckWork(s *validator.Schema) error {
	work := make(map[*validator.Schema]int)
	queue, seen := []*validator.Schema{s}, map[*validator.Schema]bool{s: true}
	for len(queue) > 0 {
		s, queue = queue[0], queue[1:]
		if err := countSubschemas(s, work); err != nil {
			return err
		}
		for _, next := range append(subschemasInPlace(s), subschemasOfParts(s)...) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// countSubschemas counts the subschemas that apply to the same place as s. In work,
// schemas that are being counted have a negative count.
func countSubschemas(s *validator.Schema, work map[*validator.Schema]int) error {
	switch n := work[s]; {
	case n > 0:
		return nil
	case n < 0:
		return errors.New("the schema refers to itself in a cycle")
	}
	work[s] = -1
	sum := 1
	for _, next := range subschemasInPlace(s) {
		if err := countSubschemas(next, work); err != nil {
			return err
		}
		if sum += work[next]; sum > maxWork {
			return errors.New("the schema's references multiply too much")
		}
	}
	work[s] = sum
	return nil
}

// subschemasInPlace returns the subschemas that apply to the same place of a value as s.
func subschemasInPlace(s *validator.Schema) []*validator.Schema {
	all := slices.Concat([]*validator.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	all = slices.AppendSeq(all, maps.Values(s.DependentSchemas))
	for _, d := range s.Dependencies {
		all = append(all, schemasIn(d)...)
	}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	return dropNil(all)
}

// subschemasOfParts returns the subschemas that apply to the parts of a value.
func subschemasOfParts(s *validator.Schema) []*validator.Schema {
	all := slices.Concat([]*validator.Schema{s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains, s.Items2020, s.ContentSchema}, s.PrefixItems)
	all = slices.AppendSeq(all, maps.Values(s.Properties))
	all = slices.AppendSeq(all, maps.Values(s.PatternProperties))
	for _, v := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		all = append(all, schemasIn(v)...)
	}
	return dropNil(all)
}

// schemasIn returns the schemas in a field that holds one schema, several, or something
// else.
func schemasIn(v any) []*validator.Schema {
	switch v := v.(type) {
	case *validator.Schema:
		return []*validator.Schema{v}
	case []*validator.Schema:
		return v
	}
	return nil
}

func dropNil(all []*validator.Schema) []*validator.Schema {
	return slices.DeleteFunc(all, func(s *validator.Schema) bool { return s == nil })
}
