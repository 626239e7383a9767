package session

import (
	"fmt"
	"maps"
	"slices"
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

// Subscribed returns the resources that the client is subscribed to.
func (c *Changes) Subscribed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.subscribed))
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
