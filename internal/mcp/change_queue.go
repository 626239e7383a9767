package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A ListChange is a list that has changed, by the notification that says so.
type ListChange string

// The lists that can change.
const (
	ToolsChanged     ListChange = mcp.MethodNotificationToolsListChanged
	PromptsChanged   ListChange = mcp.MethodNotificationPromptsListChanged
	ResourcesChanged ListChange = mcp.MethodNotificationResourcesListChanged
)

// NotifyListChanged tells the clients that a list has changed.
func (s *Server) NotifyListChanged(c ListChange) {
	s.forEachChangeQueue(func(q *changeQueue) { q.addListChange(string(c)) })
}

// NotifyResourceUpdated tells the clients that subscribed to a resource that it has
// changed.
func (s *Server) NotifyResourceUpdated(uri string) {
	s.forEachChangeQueue(func(q *changeQueue) { q.addResourceUpdate(uri) })
}

func (s *Server) forEachChangeQueue(tell func(*changeQueue)) {
	s.mu.Lock()
	watchers := slices.Collect(maps.Keys(s.changeQueues))
	s.mu.Unlock()
	for _, w := range watchers {
		tell(w)
	}
}

// changeQueue collects what a client has not been told yet. However slow it is,
// what it keeps is bounded: a list changes once.
type changeQueue struct {
	mu           sync.Mutex
	filter       func(method, uri string) bool
	changedLists map[string]bool
	updatedURIs  map[string]bool
	taskWatch    *taskWatch // nil if there are none to tell of
	ready        chan struct{}
	closed       bool
}

func newChangeQueue() *changeQueue {
	return &changeQueue{changedLists: map[string]bool{}, updatedURIs: map[string]bool{}, ready: make(chan struct{}, 1)}
}

func (q *changeQueue) addListChange(method string) { q.add(method, "") }
func (q *changeQueue) addResourceUpdate(uri string) {
	q.add(mcp.MethodNotificationResourceUpdated, uri)
}

func (q *changeQueue) add(method, uri string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.filter != nil && !q.filter(method, uri) {
		return
	}
	if uri != "" {
		q.updatedURIs[uri] = true
	} else {
		q.changedLists[method] = true
	}
	q.signal()
}

func (q *changeQueue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *changeQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.taskWatch.stopWatching()
	q.signal()
}

// awaitNotifications waits for changes and returns them as notifications; none if it is
// closed or ctx ends.
func (q *changeQueue) awaitNotifications(ctx context.Context, subscription json.RawMessage) [][]byte {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.ready:
		}
		said := append(q.takeNotifications(subscription), q.currentTaskWatch().takeNotifications(subscription)...)
		if said != nil || q.isClosed() {
			return said
		}
	}
}

func (q *changeQueue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

func (q *changeQueue) takeNotifications(subscription json.RawMessage) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	var said [][]byte
	for _, method := range slices.Sorted(maps.Keys(q.changedLists)) {
		said = append(said, encodeNotification(method, changeParams{Meta: subscriptionMeta(subscription)}))
	}
	for _, uri := range slices.Sorted(maps.Keys(q.updatedURIs)) {
		said = append(said, encodeNotification(mcp.MethodNotificationResourceUpdated, changeParams{subscriptionMeta(subscription), uri}))
	}
	clear(q.changedLists)
	clear(q.updatedURIs)
	return said
}

type changeParams struct {
	Meta map[string]any `json:"_meta,omitempty"`
	URI  string         `json:"uri,omitempty"`
}

// subscriptionMeta says to which subscription a notification belongs.
func subscriptionMeta(id json.RawMessage) map[string]any {
	if id == nil {
		return nil
	}
	return map[string]any{mcp.MetaKeySubscriptionID: id}
}
