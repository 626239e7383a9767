package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// source returns the upstream as the catalogue knows it.
func (u *Upstream) source() *catalogue.Source {
	return &catalogue.Source{
		Name: u.server.Name,
		Call: func(ctx context.Context, yield generators.Yield, r catalogue.Request) (json.RawMessage, error) {
			return u.Call(ctx, yield, client.Request{Method: r.Method, Params: r.Params, Tool: r.Tool})
		},
		Request:      u.requestPlainly,
		Allow:        u.policy.AllowCaller,
		Instructions: u.instructions,
		Configure:    func(_ string, o *generators.Options) { o.Allow = u.policy.AllowCaller },
		Describe:     u.policy.Recorded,
		Unkept:       u.policy.Record() != config.RecordAll && u.policy.Record() != "",
	}
}

// requestPlainly makes a request that belongs to no run.
func (u *Upstream) requestPlainly(ctx context.Context, r catalogue.Request) (json.RawMessage, error) {
	main, err := u.connections.awaitMain(ctx)
	if err != nil {
		return nil, err
	}
	if r.Method == "resources/subscribe" && main.session.IsModern() {
		return u.subscription.update(ctx)
	}
	result, err := main.session.Request(ctx, r.Method, r.Params)
	if err != nil {
		return nil, fmt.Errorf("%s of the upstream %s: %w", r.Method, u.server.Name, err)
	}
	return result, nil
}

// instructions returns what the upstream tells models of itself; empty if it isn't
// connected.
func (u *Upstream) instructions() string {
	s := u.connections.mainSession()
	if s == nil {
		return ""
	}
	return humanize.TruncateBytes(strings.ToValidUTF8(s.Server().Instructions, "\ufffd"), maxInstructions, " …")
}

// maxInstructions is how much of an upstream's instructions clients get, in bytes.
const maxInstructions = 16 << 10
