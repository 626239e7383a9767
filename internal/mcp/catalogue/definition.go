package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of what an upstream says of one tool.
const (
	maxDefinition = 1 << 20 // bytes
	maxOwnName    = 256     // bytes of the tool's own name
	maxDepth      = 200     // levels of objects and lists; some clients refuse a list with 1,000
)

// A definition is what an upstream says of a tool (MCP, Tools, Tool). Only what Beam
// itself uses is decoded. The types are those that clients check: one tool with a member
// of another type makes many clients refuse the whole list.
type definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		Title       string `json:"title"`
		ReadOnly    *bool  `json:"readOnlyHint"`
		Destructive *bool  `json:"destructiveHint"`
		Idempotent  *bool  `json:"idempotentHint"`
		OpenWorld   *bool  `json:"openWorldHint"`
	} `json:"annotations"`
	Execution struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
	Icons []struct {
		Source string `json:"src"`
	} `json:"icons"`
	Meta map[string]json.RawMessage `json:"_meta"`
}

// CheckDefinition returns an error for a tool that can't be offered because of its definition.
func CheckDefinition(raw json.RawMessage) error {
	_, err := parseDefinition(raw)
	return err
}

// checkLimits returns an error for a definition that is too large or too deep to be worked
// on: indented, as it is digested, its size grows with the square of its depth.
func checkLimits(raw json.RawMessage) error {
	if len(raw) > maxDefinition {
		return fmt.Errorf("its definition has %d bytes; at most %d are accepted", len(raw), maxDefinition)
	}
	if rawjson.Depth(raw) > maxDepth {
		return fmt.Errorf("its definition is nested more than %d levels deep", maxDepth)
	}
	return nil
}

// parseDefinition decodes and checks a definition. It returns what it decoded with the
// error.
func parseDefinition(raw json.RawMessage) (d definition, err error) {
	if name := rawjson.Member(raw, "name"); rawjson.TypeName(name) == rawjson.TextType {
		d.Name, _ = rawjson.DecodeText(name) // for the error
	}
	if err := checkLimits(raw); err != nil {
		return d, err
	}
	if err := checkMembers(raw); err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return d, fmt.Errorf("its %s must not be a %s", wrong.Field, wrong.Value)
		}
		return d, errors.New("its definition is not a JSON object")
	}
	if err := checkOwnName(d.Name); err != nil {
		return d, err
	}
	if rawjson.TypeName(d.InputSchema) != rawjson.ObjectType {
		return d, fmt.Errorf("its inputSchema must be an object, not %s", rawjson.TypeName(d.InputSchema))
	}
	if d.OutputSchema != nil && rawjson.TypeName(d.OutputSchema) != rawjson.ObjectType {
		return d, fmt.Errorf("its outputSchema must be an object, not %s", rawjson.TypeName(d.OutputSchema))
	}
	if t := rawjson.Member(d.InputSchema, "type"); t != nil && !bytes.Equal(t, []byte(`"object"`)) {
		return d, errors.New(`the type of its inputSchema must be "object"`)
	}
	return d, nil
}

// definedMembers are the members of a tool that MCP defines.
var definedMembers = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"}

// checkMembers returns an error if a definition has a member twice, or in another case
// than MCP has it: programs would disagree about what it says.
func checkMembers(raw json.RawMessage) (err error) {
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return errors.New("its definition is not a JSON object")
	}
	seen := make(map[string]bool)
	rawjson.EachMember(raw, func(name []byte, _ json.RawMessage) {
		if seen[string(name)] {
			err = fmt.Errorf("its definition has the member %q twice", name)
		}
		seen[string(name)] = true
		for _, defined := range definedMembers {
			if string(name) != defined && strings.EqualFold(string(name), defined) {
				err = fmt.Errorf("its definition has the member %q, which must be %q", name, defined)
			}
		}
	})
	return err
}

// checkOwnName returns an error if a tool or prompt can't have a name.
func checkOwnName(name string) error {
	switch {
	case name == "":
		return errors.New("it has no name")
	case len(name) > maxOwnName:
		return fmt.Errorf("its name has %d bytes; at most %d are accepted", len(name), maxOwnName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("its name has control characters")
	}
	return nil
}

// completed returns the definition as clients accept it, which means the same: the input
// schema has a type, which all arguments have anyway, and the schemas of properties are
// objects.
func (d *definition) completed(raw json.RawMessage) json.RawMessage {
	input, output := message.PropertiesAsObjects(withType(d.InputSchema)), message.PropertiesAsObjects(d.OutputSchema)
	if bytes.Equal(input, d.InputSchema) && bytes.Equal(output, d.OutputSchema) {
		return raw
	}
	d.InputSchema, d.OutputSchema = input, output
	return rawjson.MapMembers(raw, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "inputSchema":
			return input
		case "outputSchema":
			return output
		}
		return value
	})
}

// withType returns the schema of an object with its type.
func withType(schema json.RawMessage) json.RawMessage {
	if rawjson.Member(schema, "type") != nil {
		return schema
	}
	rest := bytes.TrimLeft(bytes.TrimSpace(schema)[1:], " \t\r\n")
	typed := []byte(`{"type":"object"`)
	if rest[0] != '}' {
		typed = append(typed, ',')
	}
	return append(typed, rest...)
}

// anyObject is the schema of arguments that only the upstream can check.
var anyObject = json.RawMessage(`{"type":"object"}`)

// inputSchema returns the schema that Beam checks arguments with. If Beam can't use the
// upstream's, it accepts every object, and the error says why.
func (d *definition) inputSchema() (*generators.Schema, error) {
	s, err := generators.ParseSchema(d.InputSchema)
	if err == nil && s.Document().Type == "object" {
		return s, nil
	}
	lenient, lenientErr := generators.ParseSchema(anyObject)
	return lenient, errors.Join(err, lenientErr)
}

// title returns the tool's title for people; empty if it has none.
func (d *definition) title() string {
	if d.Title != "" {
		return d.Title
	}
	return d.Annotations.Title
}

// options returns the options of the tool's photon, with texts for people; MCP clients get
// the definition itself. What the upstream doesn't say of what the tool does is not claimed.
func (d *definition) options(server string, raw json.RawMessage) *generators.Options {
	is := func(hint *bool) bool { return hint != nil && *hint }
	o := &generators.Options{
		Title: cleantext.Line(d.title()), Description: cleantext.Text(d.Description), Group: server, Definition: raw,
		ReadOnly: is(d.Annotations.ReadOnly), Destructive: is(d.Annotations.Destructive),
		Idempotent: is(d.Annotations.Idempotent), OpenWorld: is(d.Annotations.OpenWorld),
	}
	if d.Execution.TaskSupport == "required" {
		o.Task = generators.TaskPreferred
	}
	return o
}
