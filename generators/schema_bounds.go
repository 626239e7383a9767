package generators

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// The limits of ParseSchema. A schema may come from anywhere; compiling it and
// validating a value must not take long.
const (
	maxSchemaLen   = 1 << 20 // bytes
	maxSchemaDepth = 100     // objects and lists within each other
	maxSchemaNodes = 10_000  // objects and lists in all
	maxSchemaWork  = 10_000  // subschemas that apply to one place of a value
)

// checkSchemaText returns an error if the text of a schema exceeds the limits.
func checkSchemaText(raw []byte) error {
	if len(raw) > maxSchemaLen {
		return fmt.Errorf("the schema has %d bytes; at most %d are accepted", len(raw), maxSchemaLen)
	}
	depth, nodes := rawjson.Measure(raw)
	if depth > maxSchemaDepth {
		return fmt.Errorf("the schema is nested more than %d deep", maxSchemaDepth)
	}
	if nodes > maxSchemaNodes {
		return fmt.Errorf("the schema has more than %d parts", maxSchemaNodes)
	}
	return nil
}

// findHugeNumbers returns an error for each number that a float64 can't represent,
// because computing with a number such as 1e999999 would take too long.
func findHugeNumbers(tree any, path string) []FieldError {
	var errs []FieldError
	switch v := tree.(type) {
	case json.Number:
		if !isOrdinaryNumber(string(v)) {
			errs = append(errs, violation(path, rule.Magnitude, "", ""))
		}
	case []any:
		for i, e := range v {
			errs = append(errs, findHugeNumbers(e, path+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			errs = append(errs, findHugeNumbers(v[name], path+"/"+pointerEscaper.Replace(name))...)
		}
	}
	return errs[:min(len(errs), maxViolations)]
}

// isOrdinaryNumber reports whether n has no more digits than a float64 can have.
func isOrdinaryNumber(n string) bool {
	const digits, exponent = 400, 330
	if len(n) > digits {
		return false
	}
	e := strings.IndexAny(n, "eE")
	if e < 0 {
		return true
	}
	size, err := strconv.Atoi(n[e+1:])
	return err == nil && -exponent < size && size < exponent
}

// checkSchemaWork returns an error if a schema refers to itself endlessly, or if its
// references multiply so that validating one value would take too long.
func checkSchemaWork(s *validator.Schema) error {
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
		if sum += work[next]; sum > maxSchemaWork {
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
