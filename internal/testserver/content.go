package testserver

import (
	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

const (
	// pixel is a PNG of one red pixel.
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
	// silence is a WAV file without samples.
	silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

func imageBlock() object { return object{"type": "image", "data": pixel, "mimeType": "image/png"} }
func audioBlock() object { return object{"type": "audio", "data": silence, "mimeType": "audio/wav"} }

func resourceBlock() object {
	return object{"type": "resource", "resource": object{"uri": "test://text", "mimeType": "text/plain", "text": "An embedded text."}}
}

func blobBlock() object {
	return object{"type": "resource", "resource": object{"uri": "test://blob", "mimeType": "image/png", "blob": pixel}}
}

func linkBlock() object {
	return object{"type": "resource_link", "uri": "test://text", "name": "text", "title": "A text", "description": "A text to read.", "mimeType": "text/plain", "size": 24}
}

func annotatedBlock() object {
	return object{"type": "text", "text": "For the person only.", "annotations": object{"audience": []string{"user"}, "priority": 0.7, "lastModified": "2025-01-12T15:00:58Z"}, "_meta": object{"test/block": 1}}
}

// returns returns a tool whose result is always the same.
func returns(name, description string, result func() object) *tool {
	return &tool{name: name, description: description, run: func(*request) (object, error) { return result(), nil }}
}

func blocks(all ...any) func() object { return func() object { return object{"content": all} } }

const weatherSchema = `{"type":"object","properties":{"city":{"type":"string"},"celsius":{"type":"number"}},"required":["city","celsius"]}`

func contentTools() []*tool {
	weather := func(celsius any) func() object {
		return func() object {
			return object{"content": []any{textBlock("The weather in Paris.")}, "structuredContent": object{"city": "Paris", "celsius": celsius}}
		}
	}
	all := []*tool{
		returns("content_text", "Returns a text.", blocks(textBlock("A text."))),
		returns("content_image", "Returns an image.", blocks(imageBlock())),
		returns("content_audio", "Returns a sound.", blocks(audioBlock())),
		returns("content_resource", "Returns an embedded text.", blocks(resourceBlock())),
		returns("content_blob", "Returns an embedded file.", blocks(blobBlock())),
		returns("content_link", "Returns a link to a resource.", blocks(linkBlock())),
		returns("content_annotated", "Returns a text with annotations and _meta.", blocks(annotatedBlock())),
		returns("content_all", "Returns a content block of each kind.", blocks(textBlock("A text."), imageBlock(), audioBlock(), resourceBlock(), blobBlock(), linkBlock(), annotatedBlock())),
		returns("content_none", "Returns no content.", func() object { return object{"content": []any{}} }),
		returns("content_structured", "Returns structured content that its output schema describes.", weather(21.5)),
		returns("content_meta", "Returns a result with _meta.", func() object {
			return object{"content": []any{textBlock("See _meta.")}, "_meta": object{"test/result": object{"nested": []any{1, "two"}}}}
		}),
		returns("content_error", "Returns an error of the tool.", func() object { return failure("This tool always fails.") }),
		{name: "content_protocol_error", description: "Responds with a JSON-RPC error.", run: func(*request) (object, error) {
			return nil, &msg.Error{Code: mcp.INTERNAL_ERROR, Message: "This call always fails.", Data: object{"reason": "test"}}
		}},
	}
	for _, t := range all {
		if t.name == "content_structured" {
			t.more = object{"outputSchema": rawObject(weatherSchema)}
		}
	}
	return all
}
