// Package propertyorder keeps the order in which the text of a JSON Schema has its properties.
package propertyorder

import (
	"encoding/json"

	infer "github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/rawjson"
)

// Set sets the order of the properties of a schema and of those within it,
// which surfaces show, to that of its text.
func Set(s *infer.Schema, raw json.RawMessage) {
	if s == nil || rawjson.TypeName(raw) != rawjson.ObjectType {
		return
	}
	rawjson.EachMember(raw, func(keyword []byte, value json.RawMessage) {
		switch string(keyword) {
		case "properties":
			s.PropertyOrder = setOrders(s.Properties, value)
		case "$defs":
			setOrders(s.Defs, value)
		case "definitions":
			setOrders(s.Definitions, value)
		case "patternProperties":
			setOrders(s.PatternProperties, value)
		case "dependentSchemas":
			setOrders(s.DependentSchemas, value)
		case "items":
			Set(s.Items, value)
			setOrdersOfList(s.ItemsArray, value)
		case "prefixItems":
			setOrdersOfList(s.PrefixItems, value)
		case "allOf":
			setOrdersOfList(s.AllOf, value)
		case "anyOf":
			setOrdersOfList(s.AnyOf, value)
		case "oneOf":
			setOrdersOfList(s.OneOf, value)
		case "additionalProperties":
			Set(s.AdditionalProperties, value)
		case "then":
			Set(s.Then, value)
		case "else":
			Set(s.Else, value)
		}
	})
}

// setOrders sets the order within the members of an object of schemas, and returns the
// order of their names.
func setOrders(schemas map[string]*infer.Schema, raw json.RawMessage) []string {
	var names []string
	seen := make(map[string]bool, len(schemas))
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return nil
	}
	rawjson.EachMember(raw, func(name []byte, value json.RawMessage) {
		if s, ok := schemas[string(name)]; ok {
			Set(s, value)
			if !seen[string(name)] {
				seen[string(name)] = true
				names = append(names, string(name))
			}
		}
	})
	return names
}

func setOrdersOfList(schemas []*infer.Schema, raw json.RawMessage) {
	var list []json.RawMessage
	if len(schemas) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for i, value := range list[:min(len(list), len(schemas))] {
		Set(schemas[i], value)
	}
}
