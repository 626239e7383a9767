package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// listen subscribes to what a modern server tells of changes, until the session ends.
func (u *Upstream) listen(s *client.Session) {
	if !s.IsModern() {
		return
	}
	end := u.subscribe(s)
	defer func() { end() }()
	for {
		select {
		case subscribed := <-u.resubscribe:
			before := end
			end = u.subscribe(s) // before the other ends, so that nothing is lost
			before()
			close(subscribed)
		case <-s.Done():
			return
		case <-u.ctx.Done():
			return
		}
	}
}

// subscribeWait is how long a server may take to begin a subscription.
const subscribeWait = 5 * time.Second

// subscribe subscribes to the lists that the server says may change, and to the resources
// that somebody has subscribed to. The caller calls end when the subscription isn't needed
// any more.
func (u *Upstream) subscribe(s *client.Session) (end context.CancelFunc) {
	filter := map[string]any{}
	for _, list := range []string{"tools", "prompts", "resources"} {
		if s.Server().Has(list, "listChanged") {
			filter[list+"ListChanged"] = true
		}
	}
	if uris := u.manager.catalogue.Subscribed(u.server.Name); len(uris) > 0 {
		filter["resourceSubscriptions"] = uris
	}
	if len(filter) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(u.ctx)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	u.manager.spawn(func() {
		defer begin()
		s.Listen(ctx, filter, begin, u.Refresh)
	})
	t := time.NewTimer(subscribeWait)
	defer t.Stop()
	select {
	case <-begun:
	case <-t.C:
	case <-s.Done():
	case <-u.ctx.Done():
	}
	return cancel
}

// subscribeResource has a modern server notify of a resource that the catalogue has been
// told of.
func (u *Upstream) subscribeResource(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*subscribeWait)
	defer cancel()
	subscribed := make(chan struct{})
	select {
	case u.resubscribe <- subscribed:
	case <-ctx.Done():
		return nil, fmt.Errorf("the upstream %s is not connected", u.server.Name)
	}
	<-subscribed
	return json.RawMessage("{}"), nil
}
