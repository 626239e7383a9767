package upstream

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// maxListedTools is how many tools an upstream may list, offered or not.
const maxListedTools = 10_000

// listTools lists the upstream's tools, reviews them, and registers those that are
// offered.
func (u *Upstream) listTools(ctx context.Context, s *client.Session) error {
	var definitions []json.RawMessage
	if s.Server().Has("tools") {
		var err error
		if definitions, err = s.List(ctx, "tools/list", "tools", maxListedTools); err != nil {
			return err
		}
	}
	tools := u.policy.Review(definitions)
	for _, t := range tools {
		if err := client.CheckTool(t.Raw); err != nil && t.Decision == Offered {
			t.skip("Its definition is not valid: " + cleanLine(err.Error(), 200))
		}
	}
	u.register(tools)
	return nil
}

// register makes photons of the tools that are offered, in place of those that are
// registered.
func (u *Upstream) register(tools []*Tool) {
	u.mu.Lock()
	before := u.photons
	u.mu.Unlock()
	photons := u.manager.options.Photons
	for _, name := range before {
		photons.Remove(name)
	}
	var names []string
	for _, t := range tools {
		if t.Decision != Offered {
			continue
		}
		p, err := u.newPhoton(t)
		if err == nil {
			err = photons.Add(p)
		}
		if err != nil {
			t.skip(cleanLine(err.Error(), 200))
			continue
		}
		t.Photon = p.Name()
		names = append(names, p.Name())
	}
	u.mu.Lock()
	u.tools, u.photons = tools, names
	u.mu.Unlock()
}
