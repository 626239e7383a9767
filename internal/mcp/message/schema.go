package message

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// InputSchema returns the schema of a photon's arguments.
func InputSchema(p *generators.Photon) json.RawMessage {
	raw, err := p.Input().MarshalJSON()
	if err != nil {
		panic(err) // a schema was parsed from JSON
	}
	return PropertiesAsObjects(raw)
}

// ToolDefinition returns the description of another server's tool, as that server gave
// it, for a client, under a name and with the addresses of resources mapped by mapUI.
func ToolDefinition(p *generators.Photon, name string, c *Client, mapUI func(string) string) json.RawMessage {
	return rawjson.MapMembers(p.Options().Definition, func(member string, value json.RawMessage) json.RawMessage {
		switch member {
		case "name":
			return rawjson.EncodeText(name)
		case "_meta":
			return MapUIAddresses(value, mapUI)
		case "outputSchema": // which older clients require to be an object's
			if !c.IsModern() && string(rawjson.Member(value, "type")) != `"object"` {
				return nil
			}
		}
		return value
	})
}

// OutputSchema returns the schema of the structured content of a photon's results
// for a client; nil if it promises nothing.
func OutputSchema(p *generators.Photon, c *Client) json.RawMessage {
	shape := structuredShapeOf(p, c)
	if shape == shapeAny {
		return nil
	}
	raw, err := p.Output().MarshalJSON()
	switch {
	case err != nil:
		return nil
	case shape == shapeUnwrapped && isExtensible(p.Output()):
		raw = WithoutMember(raw, "additionalProperties")
	case shape == shapeWrapped:
		raw = fmt.Appendf(nil, `{"type":"object","properties":{"result":%s},"required":["result"]}`, raw)
	}
	return PropertiesAsObjects(raw)
}

// PropertiesAsObjects replaces the values true and false of an object schema's
// properties with objects that mean the same. JSON Schema allows true for "anything",
// but MCP's own schema, and clients that validate with it, require an object for each
// property: they refuse a whole list of tools because of one.
func PropertiesAsObjects(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte("true")) && !bytes.Contains(schema, []byte("false")) {
		return schema
	}
	var out []byte
	d, copied := json.NewDecoder(bytes.NewReader(schema)), 0
	// The decoder's position: for each open object or array, the name of the current
	// member, and whether the next token is a name.
	var path []string
	var isObject, atName []bool
	for {
		token, err := d.Token()
		if err != nil {
			return append(out, schema[copied:]...)
		}
		top := len(isObject) - 1
		if top >= 0 && isObject[top] && atName[top] && token != json.Delim('}') {
			path[top], atName[top] = token.(string), false
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			object := token == json.Delim('{')
			path, isObject, atName = append(path, ""), append(isObject, object), append(atName, object)
			continue
		case json.Delim('}'), json.Delim(']'):
			path, isObject, atName = path[:top], isObject[:top], atName[:top]
			top--
		case true, false:
			if len(path) == 2 && path[0] == "properties" {
				end := int(d.InputOffset())
				replaced, replacement := len("true"), "{}"
				if token == false {
					replaced, replacement = len("false"), `{"not":{}}`
				}
				out = append(append(out, schema[copied:end-replaced]...), replacement...)
				copied = end
			}
		}
		if top >= 0 {
			atName[top] = isObject[top]
		}
	}
}
