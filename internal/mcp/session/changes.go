package session

import (
	"fmt"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/changes"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// Changes are those that a client of the older versions is notified of on the session's
// stream: every list, and the resources that it subscribed to.
type Changes struct {
	*changes.Queue
	makeWatch sync.Once
	watch     *tasks.Watch

	mu         sync.Mutex
	subscribed map[string]bool // URIs of resources
}

// newChanges returns the changes of a client that is notified once it has been introduced.
func newChanges(introduced func() bool) *Changes {
	c := &Changes{subscribed: map[string]bool{}}
	c.Queue = changes.NewQueue(func(_, uri string) bool { return introduced() && (uri == "" || c.Subscribes(uri)) })
	return c
}

// Subscribe subscribes the client to a resource.
func (c *Changes) Subscribe(uri string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.subscribed) >= changes.MaxResources && !c.subscribed[uri] {
		return fmt.Errorf("a session may subscribe to at most %d resources", changes.MaxResources)
	}
	c.subscribed[uri] = true
	return nil
}

// Unsubscribe ends a subscription.
func (c *Changes) Unsubscribe(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subscribed, uri)
}

// Subscribes reports whether the client is subscribed to a resource.
func (c *Changes) Subscribes(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subscribed[uri]
}

// replace replaces the resources that the client is subscribed to. It returns those that it wasn't
// subscribed to before.
func (c *Changes) replace(uris []string) (added []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.subscribed
	c.subscribed = make(map[string]bool, len(uris))
	for _, uri := range uris {
		if c.subscribed[uri] = true; !before[uri] {
			added = append(added, uri)
		}
	}
	return added
}

// TaskWatch returns what makes notifications of the client's tasks. The first call has
// newWatch make it.
func (c *Changes) TaskWatch(newWatch func() *tasks.Watch) *tasks.Watch {
	c.makeWatch.Do(func() {
		c.watch = newWatch()
		c.SetSource(c.watch)
	})
	return c.watch
}
