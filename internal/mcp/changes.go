package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Change is a list that has changed, by the notification that says so.
type Change string

// The lists that can change.
const (
	ToolsChanged     Change = mcp.MethodNotificationToolsListChanged
	PromptsChanged   Change = mcp.MethodNotificationPromptsListChanged
	ResourcesChanged Change = mcp.MethodNotificationResourcesListChanged
)

// Changed tells the clients that a list has changed.
func (s *Server) Changed(c Change) { s.tellAll(func(w *changes) { w.note(string(c)) }) }

// ResourceUpdated tells the clients that subscribed to a resource that it has
// changed.
func (s *Server) ResourceUpdated(uri string) { s.tellAll(func(w *changes) { w.noteResource(uri) }) }

func (s *Server) tellAll(tell func(*changes)) {
	s.mu.Lock()
	watchers := slices.Collect(maps.Keys(s.watchers))
	s.mu.Unlock()
	for _, w := range watchers {
		tell(w)
	}
}

// changes collects what a client has not been told yet. However slow it is,
// what it keeps is bounded: a list changes once.
type changes struct {
	mu    sync.Mutex
	wants func(method, uri string) bool
	lists map[string]bool
	uris  map[string]bool
	tasks *taskWatch // nil if there are none to tell of
	wake  chan struct{}
	done  bool
}

func newChanges() *changes {
	return &changes{lists: map[string]bool{}, uris: map[string]bool{}, wake: make(chan struct{}, 1)}
}

func (w *changes) note(method string)      { w.add(method, "") }
func (w *changes) noteResource(uri string) { w.add(mcp.MethodNotificationResourceUpdated, uri) }

func (w *changes) add(method, uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done || w.wants != nil && !w.wants(method, uri) {
		return
	}
	if uri != "" {
		w.uris[uri] = true
	} else {
		w.lists[method] = true
	}
	w.signal()
}

func (w *changes) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *changes) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.tasks.end()
	w.signal()
}

// next waits for changes and returns them as notifications; none if it is
// closed or ctx ends.
func (w *changes) next(ctx context.Context, subscription json.RawMessage) [][]byte {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		said := append(w.drain(subscription), w.watched().drain(subscription)...)
		if said != nil || w.isClosed() {
			return said
		}
	}
}

func (w *changes) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

func (w *changes) drain(subscription json.RawMessage) [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var said [][]byte
	for _, method := range slices.Sorted(maps.Keys(w.lists)) {
		said = append(said, notification(method, changeParams{Meta: subscribed(subscription)}))
	}
	for _, uri := range slices.Sorted(maps.Keys(w.uris)) {
		said = append(said, notification(mcp.MethodNotificationResourceUpdated, changeParams{subscribed(subscription), uri}))
	}
	clear(w.lists)
	clear(w.uris)
	return said
}

type changeParams struct {
	Meta map[string]any `json:"_meta,omitempty"`
	URI  string         `json:"uri,omitempty"`
}

// subscribed says to which subscription a notification belongs.
func subscribed(id json.RawMessage) map[string]any {
	if id == nil {
		return nil
	}
	return map[string]any{mcp.MetaKeySubscriptionID: id}
}
