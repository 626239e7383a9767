package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
)

// A subscription is what a modern server tells of changes.
type subscription struct {
	server    string // its name
	ctx       context.Context
	spawn     func(func()) bool
	catalogue *catalogue.Catalogue
	refresh   func() // lists everything again
	// renew gets a channel for each change of the resources that are subscribed to, which is
	// closed once the server notifies of them.
	renew chan chan struct{}
}

// listen subscribes to what a modern server tells of changes, until the session ends.
func (su *subscription) listen(s *client.Session) {
	if !s.IsModern() {
		return
	}
	end := su.begin(s)
	defer func() { end() }()
	for {
		select {
		case subscribed := <-su.renew:
			before := end
			end = su.begin(s) // before the other ends, so that nothing is lost
			before()
			close(subscribed)
		case <-s.Done():
			return
		case <-su.ctx.Done():
			return
		}
	}
}

// subscribeWait is how long a server may take to begin a subscription.
const subscribeWait = 5 * time.Second

// begin subscribes to the lists that the server says may change, and to the resources
// that somebody has subscribed to. The caller calls end when the subscription isn't needed
// any more.
func (su *subscription) begin(s *client.Session) (end context.CancelFunc) {
	filter := map[string]any{}
	for _, list := range []string{"tools", "prompts", "resources"} {
		if s.Server().Has(list, "listChanged") {
			filter[list+"ListChanged"] = true
		}
	}
	if uris := su.catalogue.Subscribed(su.server); len(uris) > 0 {
		filter["resourceSubscriptions"] = uris
	}
	if len(filter) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(su.ctx)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	su.spawn(func() {
		defer begin()
		s.Listen(ctx, filter, begin, su.refresh)
	})
	t := time.NewTimer(subscribeWait)
	defer t.Stop()
	select {
	case <-begun:
	case <-t.C:
	case <-s.Done():
	case <-su.ctx.Done():
	}
	return cancel
}

// update has a modern server notify of a resource that the catalogue has been
// told of.
func (su *subscription) update(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*subscribeWait)
	defer cancel()
	subscribed := make(chan struct{})
	select {
	case su.renew <- subscribed:
	case <-ctx.Done():
		return nil, fmt.Errorf("the upstream %s is not connected", su.server)
	}
	<-subscribed
	return json.RawMessage("{}"), nil
}
