package changes

import (
	"maps"
	"slices"
	"sync"
)

// A Hub passes changes to queues. The zero value has none. Its methods may be called
// concurrently.
type Hub struct {
	mu     sync.Mutex
	queues map[*Queue]struct{}
}

// Add passes further changes to q.
func (h *Hub) Add(q *Queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.queues == nil {
		h.queues = map[*Queue]struct{}{}
	}
	h.queues[q] = struct{}{}
}

// Remove passes no further changes to q.
func (h *Hub) Remove(q *Queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.queues, q)
}

// Report passes a change to all queues. It names a list by the method of its
// notification, or has the URI of a resource.
func (h *Hub) Report(method, uri string) {
	h.mu.Lock()
	queues := slices.Collect(maps.Keys(h.queues))
	h.mu.Unlock()
	for _, q := range queues {
		q.add(method, uri)
	}
}
