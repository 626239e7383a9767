package generators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	infer "github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/photon-beam/beam/internal/propertyorder"
	"github.com/photon-beam/beam/internal/schemalimits"
)

// A Schema is a JSON Schema (draft 2020-12) that validates values. It is immutable.
type Schema struct {
	raw      json.RawMessage
	doc      *infer.Schema
	compiled *validator.Schema
	// acceptsEmpty is true if an empty object, the input of tools without arguments,
	// is valid and has no defaults to fill in.
	acceptsEmpty bool
}

var emptyObject = json.RawMessage("{}")

// SchemaFor returns the schema of a Go type. Structs become objects that allow
// no other properties; fields tagged omitempty or omitzero are optional. These
// struct tags add rules; each is named after the JSON Schema keyword that it sets:
//
//	title, description, format, pattern, default
//	minimum, maximum, multipleOf          of numbers
//	minLength, maxLength                  of strings, in characters
//	minItems, maxItems                    of slices
//	enum:"dev,prod"                       the choices; of a slice, those of its items
//	enumTitles:"Development,Production"   the titles to show instead of the choices
//
// A format is one of JSON Schema (but idn-email and idn-hostname), period, or semver.
// A value that a tag can't set, a misspelled tag, or a type that JSON Schema can't
// describe is an error that names the field. Tags of other packages are ignored.
func SchemaFor[T any]() (*Schema, error) {
	return inferSchema(reflect.TypeFor[T](), false)
}

// ParseSchema parses a schema. It returns an error for references to other documents,
// cyclic references, and schemas of more than 1 MB, 10,000 parts or 100 levels.
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	if s, ok := parsedSchemas.get(raw); ok {
		return s, nil
	}
	if err := schemalimits.CheckText(raw); err != nil {
		return nil, err
	}
	doc := new(infer.Schema)
	if err := json.Unmarshal(raw, doc); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	propertyorder.Set(doc, raw)
	s, err := compile(slices.Clone(raw), doc, assertFormats)
	if err == nil {
		parsedSchemas.put(raw, s)
	}
	return s, err
}

func newSchema(doc *infer.Schema) (*Schema, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return compile(raw, doc, assertFormats)
}

// Which of the formats that their schema names values must have. JSON Schema leaves that
// to whoever validates.
const (
	assertFormats, assertFormatsOfMCP = true, false
)

// otherFormats are those that package validator knows, without those of MCP's forms and
// regex, which it has no way to change.
var otherFormats = []string{
	"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "time", "iri",
	"uri-reference", "iri-reference", "uri-template", "semver",
}

func compile(raw json.RawMessage, doc *infer.Schema, formats bool) (*Schema, error) {
	tree, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if bad := findHugeNumbers(tree, ""); len(bad) > 0 {
		return nil, fmt.Errorf("not a JSON Schema: %w", &InvalidError{Fields: bad})
	}
	c := validator.NewCompiler()
	c.UseLoader(noLoader{})
	compilePattern, checksValues := schemalimits.NewPatternCompiler(), false
	c.UseRegexpEngine(func(pattern string) (validator.Regexp, error) {
		if checksValues {
			return nil, schemalimits.CheckRegexValue(pattern, formats)
		}
		return compilePattern(pattern)
	})
	c.AssertFormat()
	if !formats {
		for _, name := range otherFormats {
			c.RegisterFormat(&validator.Format{Name: name, Validate: func(any) error { return nil }})
		}
	}
	if err := c.AddResource("mem:///schema", tree); err != nil {
		return nil, err
	}
	compiled, err := c.Compile("mem:///schema")
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	if err := schemalimits.CheckWork(compiled); err != nil {
		return nil, err
	}
	checksValues = true
	s := &Schema{raw: raw, doc: doc, compiled: compiled}
	checked, err := s.Check(emptyObject)
	s.acceptsEmpty = err == nil && bytes.Equal(checked, emptyObject)
	return s, nil
}

// noLoader keeps a schema from reaching files and the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a reference to another document (%s) is not followed", url)
}

// MarshalJSON returns the text of the schema.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.raw, nil }

// Document returns the schema as a tree, its own properties in the order of the
// struct's fields or of the schema's text. It must not be changed.
func (s *Schema) Document() *infer.Schema { return s.doc }

// Check decodes a JSON value, fills in the defaults of missing properties, validates
// the value and returns it. Whole numbers are returned without a fraction or exponent,
// so that they decode as Go integers. The error is an [*InvalidError] with every
// violation.
func (s *Schema) Check(value json.RawMessage) (json.RawMessage, error) {
	if s.acceptsEmpty && bytes.Equal(value, emptyObject) {
		return value, nil
	}
	tree, err := decodeTree(value)
	if err != nil {
		return nil, err
	}
	filled := s.fillDefaults(tree)
	if err := s.compiled.Validate(tree); err != nil {
		return nil, newInvalidError(err)
	}
	tree, normalized := normalizeIntegers(tree)
	if !filled && !normalized {
		return value, nil
	}
	return json.Marshal(tree)
}

// Validate validates a JSON value. The error is an [*InvalidError] with every violation.
func (s *Schema) Validate(value json.RawMessage) error {
	tree, err := decodeTree(value)
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(tree); err != nil {
		return newInvalidError(err)
	}
	return nil
}

// parsedSchemas caches schemas by their text: the questions of a photon have the same
// schemas every time, and compiling one costs more than checking an answer.
var parsedSchemas schemaCache

type schemaCache struct {
	mu     sync.Mutex
	byText map[string]*Schema
}

// The cache is cleared when it holds maxCachedSchemas, and holds no schema longer than
// maxCachedSchemaLen bytes.
const (
	maxCachedSchemas   = 512
	maxCachedSchemaLen = 64 << 10
)

func (c *schemaCache) get(raw []byte) (*Schema, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.byText[string(raw)]
	return s, ok
}

func (c *schemaCache) put(raw []byte, s *Schema) {
	if len(raw) > maxCachedSchemaLen {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText == nil || len(c.byText) >= maxCachedSchemas {
		c.byText = make(map[string]*Schema)
	}
	c.byText[string(raw)] = s
}
