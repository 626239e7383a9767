package generators

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	infer "github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/schemalimits"
)

// inferSchema infers the schema of a type. If nulls is true, the schema allows null
// where encoding/json writes it: for nil slices, maps and pointers.
func inferSchema(t reflect.Type, nulls bool) (*Schema, error) {
	if t.Kind() == reflect.Interface {
		return newSchema(&infer.Schema{})
	}
	known := map[reflect.Type]*infer.Schema{}
	findTextTypes(t, known, map[reflect.Type]bool{})
	opts := &infer.ForOptions{TypeSchemas: known}
	doc, err := infer.ForType(t, opts)
	if err != nil {
		return nil, explainTypeError(t, opts, err, 0)
	}
	if err := applyTags(t, doc, nulls); err != nil {
		return nil, err
	}
	if nulls && doc.Type != "object" { // the result of an MCP tool is an object
		allowNull(t, doc)
	}
	return newSchema(doc)
}

// allowNull makes a schema accept null if values of its type may be nil.
func allowNull(t reflect.Type, s *infer.Schema) {
	if k := t.Kind(); s.Type == "" || k != reflect.Pointer && k != reflect.Slice && k != reflect.Map {
		return
	}
	// Not a list of types: clients that know only a single type reject that.
	value := *s
	value.Title, value.Description, value.Default = "", "", nil
	*s = infer.Schema{Title: s.Title, Description: s.Description, Default: s.Default, AnyOf: []*infer.Schema{&value, {Type: "null"}}}
}

// listTypes makes the schema of any JSON value list the types of JSON. A schema without
// rules says the same, but clients that require a type reject its tool.
func listTypes(s *infer.Schema) {
	for _, t := range []string{"string", "number", "boolean", "object", "array", "null"} {
		s.AnyOf = append(s.AnyOf, &infer.Schema{Type: t})
	}
}

var (
	bytesType     = reflect.TypeFor[[]byte]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	numberType    = reflect.TypeFor[json.Number]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	markdownType  = reflect.TypeFor[MarkdownText]()
)

// findTextTypes adds to known the types within t whose JSON form differs from their
// kind: []byte is a base64 string, json.RawMessage is any JSON, json.Number is a
// number, an encoding.TextMarshaler is a string, and a MarkdownText is a string of its
// media type.
func findTextTypes(t reflect.Type, known map[reflect.Type]*infer.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	pointer := reflect.PointerTo(t)
	switch {
	case t == rawType:
		known[t] = &infer.Schema{}
	case t == numberType:
		known[t] = &infer.Schema{Type: "number"}
	case t == markdownType:
		known[t] = &infer.Schema{Type: "string", ContentMediaType: MarkdownType}
	case t.Kind() == reflect.Interface || pointer.Implements(marshaler):
	case pointer.Implements(textMarshaler):
		known[t] = &infer.Schema{Type: "string"}
	case t == bytesType:
		known[t] = &infer.Schema{Type: "string", ContentEncoding: "base64"}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			findTextTypes(t.Field(i).Type, known, seen)
		}
	default:
		if e, ok := elementType(t); ok {
			findTextTypes(e, known, seen)
		}
	}
}

// elementType returns the element type of a pointer, slice, array or map.
func elementType(t reflect.Type) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem(), true
	}
	return nil, false
}

// explainTypeError adds to err, the reason why t has no schema, the name of the field
// with the cause.
func explainTypeError(t reflect.Type, opts *infer.ForOptions, err error, depth int) error {
	for e, ok := elementType(t); ok; e, ok = elementType(t) {
		t = e
	}
	if t.Kind() != reflect.Struct || depth > schemalimits.MaxDepth {
		return err
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		fieldErr := fieldError(f, opts)
		if fieldErr == nil {
			continue
		}
		if strings.Contains(fieldErr.Error(), "cycle") {
			return fmt.Errorf("field %s of %s: %w", f.Name, t, fieldErr)
		}
		return fmt.Errorf("field %s of %s: %w", f.Name, t, explainTypeError(f.Type, opts, fieldErr, depth+1))
	}
	return err
}

func fieldError(f reflect.StructField, opts *infer.ForOptions) error {
	_, err := infer.ForType(f.Type, opts)
	return err
}
