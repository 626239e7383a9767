package runs

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The formats of fields without a type that are lists: of texts, and of other values that
// are no lists or objects.
const (
	FormatTexts  = "texts"
	FormatValues = "values"
)

// IsList reports whether a parameter without a type is a list that flags can give, one for
// each item.
func IsList(f *askdata.Field) bool {
	return f.Type == "" && (f.Format == FormatTexts || f.Format == FormatValues)
}

// Fields returns the photon's parameters, in the order of its schema. One that no field of a
// question can represent has no type: its value is JSON, of the shape that its description
// ends with.
func (p *Photon) Fields() (askdata.Fields, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(p.InputSchema, &schema); err != nil {
		return nil, err
	}
	fields, err := askdata.FromSchema(withTextProperties(&schema))
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
// each of them plain text. askdata.FromSchema checks the limits of a form with it, but none of
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

func fieldFromProperty(name string, s *jsonschema.Schema) askdata.Field {
	if s == nil {
		return askdata.Field{Name: name}
	}
	if s.Format != askdata.FormatTime { // JSON Schema's time has seconds and a zone
		if f, err := convertProperty(name, s); err == nil {
			return f
		}
	}
	plain := *s
	plain.Format = ""
	if f, err := convertProperty(name, &plain); err == nil {
		return f
	}
	f := askdata.Field{Name: name, Title: s.Title, Description: s.Description, Default: s.Default, Format: listFormat(s)}
	if shape := shapeOf(s, maxShapeDepth); len(shape) <= maxShape {
		f.Description = strings.TrimSpace(f.Description + "\nAs JSON, such as " + shape)
	}
	return f
}

func listFormat(s *jsonschema.Schema) string {
	if kindOf(s) != "array" || s.Items == nil {
		return ""
	}
	switch kindOf(s.Items) {
	case "string":
		return FormatTexts
	case "number", "integer", "boolean":
		return FormatValues
	}
	return ""
}

// kindOf returns the type of a schema besides null; empty if there are several.
func kindOf(s *jsonschema.Schema) string {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	if len(types) == 1 {
		return types[0]
	}
	return s.Type
}

// The limits of the shape that describes a value, in levels and bytes.
const (
	maxShapeDepth = 5
	maxShape      = 300
)

// shapeOf returns an example of a value as JSON, with all members of objects.
func shapeOf(s *jsonschema.Schema, depth int) string {
	var example any = "…"
	switch {
	case s == nil || depth == 0:
	case len(s.Examples) > 0:
		example = s.Examples[0]
	case s.Const != nil:
		example = *s.Const
	case len(s.Enum) > 0:
		example = s.Enum[0]
	case kindOf(s) == "object":
		names := s.PropertyOrder
		if len(names) == 0 {
			names = slices.Sorted(maps.Keys(s.Properties))
		}
		members := make([]string, len(names))
		for i, name := range names {
			members[i] = string(rawjson.EncodeText(name)) + ": " + shapeOf(s.Properties[name], depth-1)
		}
		return "{" + strings.Join(members, ", ") + "}"
	case kindOf(s) == "array":
		return "[" + shapeOf(s.Items, depth-1) + "]"
	case kindOf(s) == "number", kindOf(s) == "integer":
		example = 1
	case kindOf(s) == "boolean":
		example = true
	}
	raw, err := json.Marshal(example)
	if err != nil {
		return `"…"`
	}
	return string(raw)
}

// CheckParameter returns what is wrong with the value of one parameter, as far as the
// photon's schema says; nil if it is right or nothing is known. It is a function because
// the schema is parsed once.
func (p *Photon) CheckParameter() func(name string, value json.RawMessage) error {
	schema, err := generators.ParseSchema(p.InputSchema)
	return func(name string, value json.RawMessage) error {
		if err != nil {
			return nil
		}
		object := append(append(append([]byte{'{'}, rawjson.EncodeText(name)...), ':'), value...)
		var invalid *generators.InvalidError
		if !errors.As(schema.Validate(append(object, '}')), &invalid) {
			return nil
		}
		for _, f := range invalid.Fields {
			if rest, ok := strings.CutPrefix(f.Path, driver.At(name, "").Path); ok && (rest == "" || rest[0] == '/') {
				return errors.New(strings.TrimSpace(strings.TrimPrefix(rest, "/") + " " + f.Message))
			}
		}
		return nil
	}
}

func convertProperty(name string, s *jsonschema.Schema) (askdata.Field, error) {
	fields, err := askdata.FromSchema(&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{name: s}})
	if err != nil {
		return askdata.Field{}, err
	}
	return fields[0], nil
}
