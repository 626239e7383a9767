package catalogue

import (
	"context"
	"maps"
	"slices"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// maxSubscribed is the number of an upstream's resources that can be subscribed to.
const maxSubscribed = 1000

// Subscribe subscribes to a resource at its upstream, which then notifies of its changes,
// as long as Beam runs. An upstream that can't be subscribed to announces none.
func (c *Catalogue) Subscribe(ctx context.Context, t Target) {
	c.mu.Lock()
	all := c.subscribed[t.Server]
	if all == nil {
		all = make(map[string]struct{})
		c.subscribed[t.Server] = all
	}
	_, known := all[t.Own]
	if !known && len(all) < maxSubscribed {
		all[t.Own] = struct{}{}
	}
	c.mu.Unlock()
	if !known {
		_, _ = t.Request(ctx, "resources/subscribe", message.Compacted(map[string]string{"uri": t.Own}))
	}
}

// Subscribed returns the resources of an upstream that are subscribed to, for a new
// connection to it.
func (c *Catalogue) Subscribed(server string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.subscribed[server]))
}
