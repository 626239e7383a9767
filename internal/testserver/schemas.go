package testserver

import "encoding/json"

// rawObject marks a text as JSON.
func rawObject(s string) json.RawMessage { return json.RawMessage(s) }

// schemaTools returns tools that return their arguments.
func schemaTools() []*tool {
	echo := func(name, description, schema string) *tool {
		return &tool{name: name, description: description, schema: schema, run: echoArguments}
	}
	annotated := echo("schema_annotated", "Has a title, icons, annotations and _meta.", `{"type":"object","properties":{}}`)
	annotated.more = object{
		"title":       "An annotated tool",
		"annotations": object{"title": "Annotated", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
		"icons":       []any{object{"src": "data:image/png;base64," + pixel, "mimeType": "image/png", "sizes": []string{"1x1"}}},
		"_meta":       object{"test/tool": "kept", "ui": object{"resourceUri": "ui://view"}},
	}
	return []*tool{
		echo("schema_plain", "Takes a field of each type.", `{"type":"object","properties":{"text":{"type":"string","minLength":1},"number":{"type":"number"},"integer":{"type":"integer"},"boolean":{"type":"boolean"},"null":{"type":"null"}},"required":["text"],"additionalProperties":false}`),
		echo("schema_nested", "Takes nested objects and lists of objects.", `{"type":"object","properties":{"person":{"type":"object","properties":{"name":{"type":"string"},"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["city"]}},"required":["name"]},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"count":{"type":"integer","minimum":1}},"required":["sku"]}}},"required":["person"]}`),
		echo("schema_one_of", "Takes one of several shapes.", `{"type":"object","properties":{"shape":{"oneOf":[{"type":"object","title":"Circle","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"]},{"type":"object","title":"Square","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]}]},"amount":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"required":["shape"]}`),
		echo("schema_ref", "Takes values that the schema defines elsewhere, one of them a tree.", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}},"properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"]}`),
		echo("schema_2020", "Takes what only JSON Schema 2020-12 describes.", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"contact":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"},"pair":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":false}},"patternProperties":{"^x-":{"type":"string"}},"dependentRequired":{"phone":["contact"]},"if":{"properties":{"contact":{"const":"email"}},"required":["contact"]},"then":{"required":["email"]},"unevaluatedProperties":false}`),
		echo("schema_bare", "Takes anything at all.", `{"type":"object"}`),
		echo("schema_portable_true", "Takes a property whose schema is the value true.", `{"type":"object","properties":{"anything":true}}`),
		echo("schema_header", "Takes an argument that travels in an HTTP header, too.", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`),
		annotated,
	}
}

func echoArguments(r *request) (object, error) {
	arguments := r.Arguments
	if arguments == nil {
		arguments = rawObject("{}")
	}
	return text("%s", arguments), nil
}
