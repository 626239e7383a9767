// Package portability finds what MCP clients may reject in a tool's schemas, although it is
// valid, by the rules of MCP Inspector.
package portability

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The keywords whose values are schemas, by the form of the value.
var (
	schemaKeywords = []string{"items", "contains", "not", "propertyNames", "if", "then", "else",
		"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contentSchema"}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}

	// annotations don't restrict a value.
	annotations = []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id",
		"$anchor", "$defs", "definitions", "if"}
	mayBeBoolean = []string{"additionalProperties", "unevaluatedProperties", "unevaluatedItems"}
)

// Lint returns what clients may reject in a schema: a boolean in the place of a
// schema, a list of types, a schema without rules, and a reference to another document.
func Lint(path string, schema any) []string {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: is a bare %v", path, schema)}
	}
	var found []string
	if _, isList := s["type"].([]any); isList {
		found = append(found, path+": lists types")
	}
	if ref, _ := s["$ref"].(string); ref != "" && !strings.HasPrefix(ref, "#") {
		found = append(found, path+": refers to another document")
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(s)), func(k string) bool { return !slices.Contains(annotations, k) }) {
		found = append(found, path+": has no rule")
	}
	for _, k := range schemaKeywords {
		sub, ok := s[k]
		if _, isBoolean := sub.(bool); ok && !(isBoolean && slices.Contains(mayBeBoolean, k)) {
			found = append(found, Lint(path+"."+k, sub)...)
		}
	}
	for _, k := range schemaListKeywords {
		list, _ := s[k].([]any)
		for i, sub := range list {
			found = append(found, Lint(fmt.Sprintf("%s.%s.%d", path, k, i), sub)...)
		}
	}
	for _, k := range schemaMapKeywords {
		subs, _ := s[k].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(subs)) {
			found = append(found, Lint(path+"."+k+"."+name, subs[name])...)
		}
	}
	return found
}
