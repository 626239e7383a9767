package message

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
)

// structuredContent returns a result for programs. Before 2026-07-28 it must be an
// object, so any other value is wrapped in one.
func structuredContent(p *generators.Photon, c *Client, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	return structuredValue(p, c, raw, raw[0] == '{')
}

// structuredValue is structuredContent for a value that may stand for an object.
func structuredValue(p *generators.Photon, c *Client, raw json.RawMessage, isObject bool) json.RawMessage {
	switch structuredShapeOf(p, c) {
	case shapeUnwrapped:
		return raw
	case shapeWrapped:
		return bytes.Join([][]byte{[]byte(`{"result":`), raw, []byte("}")}, nil)
	}
	if c.IsModern() || c.VersionAtLeast(mcp.ProtocolVersion20250618) && (returnsObject(p) || isObject) {
		return raw
	}
	return nil
}

// structuredShape is what an output schema promises about structured content.
type structuredShape int

const (
	shapeAny       structuredShape = iota // anything
	shapeUnwrapped                        // the result as it is, an object before 2026-07-28
	shapeWrapped                          // an object with the result as its member "result"
)

func structuredShapeOf(p *generators.Photon, c *Client) structuredShape {
	if p.Output() == nil || !c.VersionAtLeast(mcp.ProtocolVersion20250618) {
		return shapeAny
	}
	d := p.Output().Document()
	switch {
	case d.Type == "" && len(d.Types) == 0 && d.Ref == "" && len(d.AnyOf) == 0 && len(d.OneOf) == 0:
		return shapeAny
	case c.IsModern(), returnsObject(p):
		return shapeUnwrapped
	case d.Ref != "", len(d.Defs) > 0:
		return shapeAny // in the wrapper its references would resolve differently
	}
	return shapeWrapped
}

func returnsObject(p *generators.Photon) bool {
	return p.Output() != nil && p.Output().Document().Type == "object"
}
