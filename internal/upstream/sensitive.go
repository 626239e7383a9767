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

// findSensitive returns what of a form asks for a secret: the name of a field, or the
// message if somebody could type a secret into one of the fields; "" if nothing does.
func findSensitive(message string, schema json.RawMessage) string {
	var s formSchema
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	if name := s.findSensitive(maxSchemaDepth); name != "" {
		return name
	}
	if mentionsSecret(message) && s.hasFreeField(maxSchemaDepth) {
		return "its message"
	}
	return ""
}

// A formSchema is what findSensitiveField reads of a schema.
type formSchema struct {
	// These are texts, unless the schema is invalid.
	Title, Description, Format, Type any
	WriteOnly                        any
	Enum, OneOf                      []json.RawMessage
	Properties                       map[string]formSchema
	Items                            *formSchema
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

// isFree reports whether anything can be typed into the field.
func (s *formSchema) isFree() bool {
	return len(s.Enum)+len(s.OneOf) == 0 && (s.Type == "string" && (s.Format == nil || s.Format == "") || s.Type == "number" || s.Type == "integer")
}

func (s *formSchema) hasFreeField(depth int) bool {
	if depth == 0 {
		return false
	}
	for _, field := range s.Properties {
		if field.isFree() || field.hasFreeField(depth-1) {
			return true
		}
	}
	return s.Items != nil && (s.Items.isFree() || s.Items.hasFreeField(depth-1))
}

// isSensitive reports whether the field of that name asks for a secret: by its name, title
// or description, or because its schema says so.
func (s *formSchema) isSensitive(name string) bool {
	title, _ := s.Title.(string)
	description, _ := s.Description.(string)
	fieldType, _ := s.Type.(string)
	if s.Format == "password" || s.WriteOnly == true {
		return true
	}
	if len(s.Enum)+len(s.OneOf) > 0 || fieldType == "boolean" {
		return false
	}
	isText := fieldType == "string"
	if namesSecret(name, isText) || namesSecret(title, isText) || s.isFree() && mentionsSecret(description) {
		return true
	}
	q := &ask.Question{Kind: ask.KindForm, Fields: ask.Fields{{Name: name, Title: title, Type: fieldType}}}
	return ask.Policy{}.Admit(q, 0, 0) != nil
}
