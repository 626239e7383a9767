package testserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A resource is one that the server has, and how it is read.
type resource struct {
	uri, name, kind string
	read            func(*request) (object, error) // the contents, without uri and mimeType
}

func resources() []resource {
	return []resource{
		{"test://text", "text", "text/plain", func(*request) (object, error) { return object{"text": "A text."}, nil }},
		{"test://blob", "blob", "image/png", func(*request) (object, error) { return object{"blob": pixel}, nil }},
		{"test://changing", "changing", "text/plain", func(r *request) (object, error) {
			r.server.mu.Lock()
			defer r.server.mu.Unlock()
			return object{"text": fmt.Sprintf("Changed %d times.", r.server.texts)}, nil
		}},
		{"test://asking", "asking", "text/plain", func(r *request) (object, error) {
			answer, err := r.elicit(nameForm("Who reads the resource?"))
			return object{"text": "Answer: " + indent(answer)}, err
		}},
		{"test://failing", "failing", "text/plain", func(*request) (object, error) {
			return nil, msg.Errorf(mcp.INTERNAL_ERROR, "This resource always fails.")
		}},
		{"ui://view", "view", "text/html;profile=mcp-app", func(*request) (object, error) {
			return object{"text": "<!doctype html><title>A view</title><p>A view."}, nil
		}},
	}
}

func resourceList() (list []any) {
	for _, res := range resources() {
		list = append(list, object{"uri": res.uri, "name": res.name, "mimeType": res.kind, "description": "The resource " + res.name + "."})
	}
	return list
}

// itemPrefix begins the URI of every resource of the template.
const itemPrefix = "test://items/"

func templateList() []any {
	return []any{object{"uriTemplate": itemPrefix + "{id}", "name": "item", "mimeType": "application/json", "description": "An item by its id."}}
}

// readResource serves resources/read.
func readResource(r *request) (object, error) {
	if id, ok := strings.CutPrefix(r.URI, itemPrefix); ok {
		item, err := json.Marshal(object{"id": id})
		return object{"contents": []any{object{"uri": r.URI, "mimeType": "application/json", "text": string(item)}}}, err
	}
	for _, res := range resources() {
		if res.uri != r.URI {
			continue
		}
		contents, err := res.read(r)
		if err != nil {
			return nil, err
		}
		contents["uri"], contents["mimeType"] = res.uri, res.kind
		return object{"contents": []any{contents}}, nil
	}
	code := mcp.RESOURCE_NOT_FOUND
	if r.isModern() {
		code = mcp.INVALID_PARAMS
	}
	return nil, &msg.Error{Code: code, Message: fmt.Sprintf("there is no resource %q", r.URI), Data: object{"uri": r.URI}}
}

func promptList() []any {
	return []any{
		object{"name": "plain", "description": "A prompt without arguments."},
		object{"name": "arguments", "description": "A prompt with arguments.", "arguments": []any{
			object{"name": "topic", "description": "What to write about.", "required": true}, object{"name": "style"},
		}},
		object{"name": "asking", "description": "A prompt that asks the person."},
	}
}

// getPrompt serves prompts/get.
func getPrompt(r *request) (object, error) {
	message := "Write something."
	switch r.Name {
	case "plain":
	case "arguments":
		var topic, style string
		if err := r.argument("topic", &topic); err != nil {
			return nil, err
		}
		if err := r.argument("style", &style); err != nil {
			return nil, err
		}
		if topic == "" {
			return nil, msg.Errorf(mcp.INVALID_PARAMS, "the argument topic is missing")
		}
		message = fmt.Sprintf("Write about %s, in the style %q.", topic, style)
	case "asking":
		answer, err := r.elicit(nameForm("Who wants the prompt?"))
		if err != nil {
			return nil, err
		}
		message = "Answer: " + indent(answer)
	default:
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "there is no prompt %q", r.Name)
	}
	return object{"description": "The prompt " + r.Name + ".", "messages": []any{userMessage(textBlock(message))}}, nil
}
