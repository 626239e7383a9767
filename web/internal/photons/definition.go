package photons

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// photonJSON is a photon as MCP's tools/list describes a tool.
type photonJSON struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	InputSchema  *generators.Schema `json:"inputSchema"`
	OutputSchema *generators.Schema `json:"outputSchema,omitempty"`
	Annotations  map[string]bool    `json:"annotations"`
	Durable      bool               `json:"durable"`
}

// newPhotonJSON returns a photon as JSON: a [photonJSON] or, of another server's tool, its
// definition under the photon's name.
func newPhotonJSON(p *generators.Photon) any {
	o := p.Options()
	if o.Definition != nil {
		return definitionJSON(p)
	}
	return photonJSON{
		Name: p.Name(), Title: p.Title(), Description: o.Description,
		InputSchema: p.Input(), OutputSchema: p.Output(), Durable: o.Durable,
		Annotations: map[string]bool{
			"readOnlyHint": o.ReadOnly, "destructiveHint": o.Destructive,
			"idempotentHint": o.Idempotent, "openWorldHint": o.OpenWorld,
		},
	}
}

// definitionJSON returns the definition of another server's tool, with the members that
// every photon has.
func definitionJSON(p *generators.Photon) json.RawMessage {
	own := map[string]json.RawMessage{
		"name": rawjson.EncodeText(p.Name()), "title": rawjson.EncodeText(p.Title()), "description": rawjson.EncodeText(p.Options().Description),
		"annotations": json.RawMessage("{}"), "durable": json.RawMessage(strconv.FormatBool(p.Options().Durable)),
	}
	out := []byte{'{'}
	add := func(name string, value json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendText(out, name), ':'), value...)
	}
	rawjson.EachMember(p.Options().Definition, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "name", "title", "description": // for people
			value = own[string(name)]
		}
		delete(own, string(name))
		add(string(name), value)
	})
	for _, name := range slices.Sorted(maps.Keys(own)) {
		add(name, own[name])
	}
	return append(out, '}')
}
