package shipped_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped"
)

// listTools returns the tools that an MCP client with elicitation is offered.
func listTools(t *testing.T) []*mcp.Tool {
	t.Helper()
	b, err := beam.New(beam.Config{Photons: shipped.Photons()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Shutdown(context.Background()) })
	conn := beamtest.Pipe(t, b)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// MCP clients reject tools for schemas that are valid, but that they can't represent.
// MCP Inspector reports those, by the rules of lintSchema.
func TestSchemasArePortable(t *testing.T) {
	outputs := 0
	for _, tool := range listTools(t) {
		for _, finding := range lintSchema("inputSchema", tool.InputSchema) {
			t.Errorf("%s: %s", tool.Name, finding)
		}
		if tool.OutputSchema != nil {
			outputs++
			for _, finding := range lintSchema("outputSchema", tool.OutputSchema) {
				t.Errorf("%s: %s", tool.Name, finding)
			}
		}
	}
	if want := len(shipped.Photons()); outputs != want {
		t.Errorf("%d tools have an output schema, want all %d photons", outputs, want)
	}
}

// A model chooses a tool, and its arguments, by what it reads about them.
func TestModelsReadWhatToolsDo(t *testing.T) {
	sentences := regexp.MustCompile(`^[A-Z][^\n]*[.]$`)
	for _, tool := range listTools(t) {
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(tool.Name) || tool.Title == "" || !sentences.MatchString(tool.Description) {
			t.Errorf("%q, %q, %q: want a name in snake case, a title, and sentences", tool.Name, tool.Title, tool.Description)
		}
		schema, _ := tool.InputSchema.(map[string]any)
		arguments, _ := schema["properties"].(map[string]any)
		for name, a := range arguments {
			if description, _ := a.(map[string]any)["description"].(string); description == "" {
				t.Errorf("%s: the argument %s has no description", tool.Name, name)
			}
		}
	}
}

func TestLintSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":true}}`:                                      "inputSchema.properties.a: is a bare true",
		`{"type":"object","properties":{"a":{"title":"A"}}}`:                             "inputSchema.properties.a: has no rule",
		`{"type":"object","properties":{"a":{"type":"array","items":true}}}`:             "inputSchema.properties.a.items: is a bare true",
		`{"type":["object","null"]}`:                                                     "inputSchema: lists types",
		`{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}`:     "inputSchema.properties.a: refers to another document",
		`{"anyOf":[{"type":"object"},{}]}`:                                               "inputSchema.anyOf.1: has no rule",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"enum":[1]}}}`: "",
		`{"type":"object","additionalProperties":{"type":["string","null"]}}`:            "inputSchema.additionalProperties: lists types",
		`{"type":"object","$defs":{"a":{}},"properties":{"b":{"$ref":"#/$defs/a"}}}`:     "inputSchema.$defs.a: has no rule",
	} {
		var tree any
		if err := json.Unmarshal([]byte(schema), &tree); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lintSchema("inputSchema", tree), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", schema, got, want)
		}
	}
}

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

// lintSchema returns what clients may reject in a schema: a boolean in the place of a
// schema, a list of types, a schema without rules, and a reference to another document.
func lintSchema(path string, schema any) []string {
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
			found = append(found, lintSchema(path+"."+k, sub)...)
		}
	}
	for _, k := range schemaListKeywords {
		list, _ := s[k].([]any)
		for i, sub := range list {
			found = append(found, lintSchema(fmt.Sprintf("%s.%s.%d", path, k, i), sub)...)
		}
	}
	for _, k := range schemaMapKeywords {
		subs, _ := s[k].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(subs)) {
			found = append(found, lintSchema(path+"."+k+"."+name, subs[name])...)
		}
	}
	return found
}
