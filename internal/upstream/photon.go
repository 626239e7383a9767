package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/rawjson"
)

// newPhoton returns the photon that calls a tool.
func (u *Upstream) newPhoton(t *Tool) (*generators.Photon, error) {
	input, err := generators.ParseSchema(rawjson.Member(t.Raw, "inputSchema"))
	if err != nil {
		return nil, err
	}
	var d struct{ Description string }
	if err := json.Unmarshal(t.Raw, &d); err != nil {
		return nil, err
	}
	call := func(ctx context.Context, args json.RawMessage, yield generators.Yield) (json.RawMessage, error) {
		params, err := json.Marshal(map[string]any{"name": t.Name, "arguments": args})
		if err != nil {
			return nil, err
		}
		result, err := u.Call(ctx, yield, client.Request{Method: "tools/call", Params: params, Tool: t.Raw})
		if err != nil {
			return nil, err
		}
		return textOf(result)
	}
	return generators.FromSchema(u.server.Name+"__"+t.Name, input, nil, call, &generators.Options{
		Title: t.Title, Description: d.Description, Group: u.server.Name, Allow: u.policy.AllowCaller,
	}), nil
}

// textOf returns the text of a result as JSON.
func textOf(result json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	text := strings.Join(texts, "\n")
	if r.IsError {
		return nil, errors.New(text)
	}
	return json.Marshal(text)
}
