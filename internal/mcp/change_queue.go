package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A ListChange names a list that has changed, by the method of its notification.
type ListChange string

// The lists that can change.
const (
	ToolsChanged     ListChange = mcp.MethodNotificationToolsListChanged
	PromptsChanged   ListChange = mcp.MethodNotificationPromptsListChanged
	ResourcesChanged ListChange = mcp.MethodNotificationResourcesListChanged
)

// NotifyListChanged notifies clients that a list has changed.
func (s *Server) NotifyListChanged(c ListChange) {
	s.forEachChangeQueue(func(q *changeQueue) { q.addListChange(string(c)) })
}

// NotifyResourceUpdated notifies the clients that subscribed to a resource that it has
// changed.
func (s *Server) NotifyResourceUpdated(uri string) {
	s.forEachChangeQueue(func(q *changeQueue) { q.addResourceUpdate(uri) })
}

func (s *Server) forEachChangeQueue(f func(*changeQueue)) {
	s.mu.Lock()
	queues := slices.Collect(maps.Keys(s.changeQueues))
	s.mu.Unlock()
	for _, q := range queues {
		f(q)
	}
}

// A changeQueue collects changes that a client has not been notified of. It holds each
// list and resource once, so that its size is bounded however slow the client is.
type changeQueue struct {
	mu           sync.Mutex
	filter       func(method, uri string) bool
	changedLists map[string]bool
	updatedURIs  map[string]bool
	taskWatch    *taskWatch // nil if the client watches no tasks
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

// awaitNotifications waits for changes and returns their notifications. It returns none
// if the queue is closed or ctx is done.
func (q *changeQueue) awaitNotifications(ctx context.Context, subscription json.RawMessage) [][]byte {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.ready:
		}
		notifications := append(q.takeNotifications(subscription), q.currentTaskWatch().takeNotifications(subscription)...)
		if notifications != nil || q.isClosed() {
			return notifications
		}
	}
}

// sendNotifications sends notifications of changes until the queue is closed or ctx is
// done, which is no error. A notification belongs to subscription, which may be nil.
func (q *changeQueue) sendNotifications(ctx context.Context, out messageSender, subscription json.RawMessage) error {
	for {
		notifications := q.awaitNotifications(ctx, subscription)
		if notifications == nil {
			return nil
		}
		for _, n := range notifications {
			if err := out.send("", n); err != nil {
				return err
			}
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
	var notifications [][]byte
	for _, method := range slices.Sorted(maps.Keys(q.changedLists)) {
		notifications = append(notifications, msg.EncodeNotification(method, changeParams{Meta: subscriptionMeta(subscription)}))
	}
	for _, uri := range slices.Sorted(maps.Keys(q.updatedURIs)) {
		notifications = append(notifications, msg.EncodeNotification(mcp.MethodNotificationResourceUpdated, changeParams{subscriptionMeta(subscription), uri}))
	}
	clear(q.changedLists)
	clear(q.updatedURIs)
	return notifications
}

type changeParams struct {
	Meta map[string]any `json:"_meta,omitempty"`
	URI  string         `json:"uri,omitempty"`
}

// subscriptionMeta returns the _meta of a notification that belongs to a subscription.
func subscriptionMeta(id json.RawMessage) map[string]any {
	if id == nil {
		return nil
	}
	return map[string]any{mcp.MetaKeySubscriptionID: id}
}
