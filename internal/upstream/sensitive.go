package upstream

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/photon-beam/beam/ask"
)

// maxSchemaDepth is how deep findSensitiveField looks into a schema. Forms are flat
// (MCP, Elicitation); schemas that aren't are refused elsewhere.
const maxSchemaDepth = 8

// findSensitiveField returns the name of a field that asks for a secret; "" if there
// is none.
func findSensitiveField(schema json.RawMessage) string {
	var s formSchema
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	return s.findSensitive(maxSchemaDepth)
}

// A formSchema is what findSensitiveField reads of a schema.
type formSchema struct {
	Title, Format, Type any // texts, unless the schema is invalid
	WriteOnly           any
	Enum, OneOf         []json.RawMessage
	Properties          map[string]formSchema
	Items               *formSchema
}

func (s *formSchema) findSensitive(depth int) string {
	if depth == 0 {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		if field.isSensitive(name) {
			return cleanLine(name, 100)
		}
		if found := field.findSensitive(depth - 1); found != "" {
			return found
		}
	}
	if s.Items != nil {
		return s.Items.findSensitive(depth - 1)
	}
	return ""
}

// isSensitive reports whether the field of that name asks for a secret: by its name or
// title, as in any form, or because its schema says so.
func (s *formSchema) isSensitive(name string) bool {
	title, _ := s.Title.(string)
	fieldType, _ := s.Type.(string)
	if s.Format == "password" || s.WriteOnly == true {
		return true
	}
	if len(s.Enum)+len(s.OneOf) > 0 {
		return false
	}
	q := &ask.Question{Kind: ask.KindForm, Fields: ask.Fields{{Name: name, Title: title, Type: fieldType}}}
	return ask.Policy{}.Admit(q, 0, 0) != nil
}
