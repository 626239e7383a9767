package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/internal/secretwords"
)

// maxSchemaDepth is how deep findSensitiveField looks into a schema. Forms are flat
// (MCP, Elicitation); schemas that aren't are refused elsewhere.
const maxSchemaDepth = 8

// findSensitive returns what of a form asks for a secret, and by which words: a field, or the
// message if somebody could type a secret into one of the fields; "" if nothing does.
func findSensitive(message string, schema json.RawMessage) string {
	var s formSchema
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	if name := s.findSensitive(maxSchemaDepth); name != "" {
		return name
	}
	if word := secretwords.InText(message); word != "" && s.hasFreeField(maxSchemaDepth) {
		return fmt.Sprintf("its message: %q", word)
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
		if why := field.whySensitive(name); why != "" {
			return fmt.Sprintf("the field %s: %s", CleanLine(name, 100), why)
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

// isFree reports whether anything can be typed into the field, such as a secret.
func (s *formSchema) isFree() bool {
	switch s.Type {
	case "number", "integer":
		return true
	case "string":
		return len(s.Enum)+len(s.OneOf) == 0 && s.Format != "date" && s.Format != "date-time"
	}
	return false
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

// whySensitive returns the words for which the field of that name asks for a secret, in its
// name, title or description, or what its schema says of it; "" if it doesn't.
func (s *formSchema) whySensitive(name string) string {
	if s.Format == "password" || s.WriteOnly == true {
		return "its schema says so"
	}
	if len(s.Enum)+len(s.OneOf) > 0 || s.Type == "boolean" {
		return ""
	}
	title, _ := s.Title.(string)
	description, _ := s.Description.(string)
	isText := s.Type == "string"
	word := cmp.Or(secretwords.InName(name, isText), secretwords.InName(title, isText))
	if word == "" && s.isFree() {
		word = cmp.Or(secretwords.InText(description), secretwords.InText(title+". "+description))
	}
	if word == "" {
		return ""
	}
	return strconv.Quote(word)
}
