package runs

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/ask"
)

// Fields returns the photon's parameters, in the order of its schema. One that no field of a
// question can represent has no type: its value is JSON.
func (p *Photon) Fields() (ask.Fields, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(p.InputSchema, &schema); err != nil {
		return nil, err
	}
	fields, err := ask.FromSchema(withTextProperties(&schema))
	if err != nil {
		return nil, err
	}
	for i := range fields {
		name, required := fields[i].Name, fields[i].Required
		fields[i] = fieldFromProperty(name, schema.Properties[name])
		fields[i].Required = required
	}
	return fields, nil
}

// withTextProperties returns an object schema with the same properties in the same order,
// each of them plain text. ask.FromSchema checks the limits of a form with it, but none of
// the rules that a form can't represent.
func withTextProperties(schema *jsonschema.Schema) *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	plain := &jsonschema.Schema{Type: "object", PropertyOrder: schema.PropertyOrder}
	plain.Properties = make(map[string]*jsonschema.Schema, len(schema.Properties))
	for name := range schema.Properties {
		plain.Properties[name] = text
	}
	for _, name := range schema.Required {
		if _, ok := plain.Properties[name]; ok {
			plain.Required = append(plain.Required, name)
		}
	}
	return plain
}

func fieldFromProperty(name string, s *jsonschema.Schema) ask.Field {
	if s == nil {
		return ask.Field{Name: name}
	}
	if s.Format != ask.FormatTime { // JSON Schema's time has seconds and a zone
		if f, err := convertProperty(name, s); err == nil {
			return f
		}
	}
	plain := *s
	plain.Format = ""
	if f, err := convertProperty(name, &plain); err == nil {
		return f
	}
	return ask.Field{Name: name, Title: s.Title, Description: s.Description, Default: s.Default}
}

func convertProperty(name string, s *jsonschema.Schema) (ask.Field, error) {
	fields, err := ask.FromSchema(&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{name: s}})
	if err != nil {
		return ask.Field{}, err
	}
	return fields[0], nil
}
