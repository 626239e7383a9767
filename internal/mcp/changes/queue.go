// Package changes collects changes that a client is to be notified of by messages that
// belong to no request: of lists, of resources, and of whatever else has a [Source].
package changes

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A Queue collects changes that a client has not been notified of. It holds each list
// and resource once, so that its size is bounded however slow the client is. Its methods
// may be called concurrently.
type Queue struct {
	filter func(method, uri string) bool
	ready  chan struct{}

	mu           sync.Mutex
	changedLists map[string]bool
	updatedURIs  map[string]bool
	source       Source // nil if there is none
	closed       bool
}

// A Source makes further notifications. Its methods may be called concurrently.
type Source interface {
	// TakeNotifications returns the notifications that are due. They belong to a
	// subscription, unless it is nil.
	TakeNotifications(subscription json.RawMessage) [][]byte
	// Stop is called when the queue is closed.
	Stop()
}

// NewQueue returns a queue of the changes for which filter returns true. Filter is given
// the method of the notification and, for a resource, its URI.
func NewQueue(filter func(method, uri string) bool) *Queue {
	return &Queue{filter: filter, changedLists: map[string]bool{}, updatedURIs: map[string]bool{}, ready: make(chan struct{}, 1)}
}

// SetSource adds the notifications of a source, of which a queue has at most one. If
// the queue is closed, it stops the source.
func (q *Queue) SetSource(s Source) {
	q.mu.Lock()
	q.source = s
	closed := q.closed
	q.mu.Unlock()
	if closed {
		s.Stop()
	}
}

func (q *Queue) add(method, uri string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || !q.filter(method, uri) {
		return
	}
	if uri != "" {
		q.updatedURIs[uri] = true
	} else {
		q.changedLists[method] = true
	}
	q.Signal()
}

// Signal says that there may be a notification. It does not block.
func (q *Queue) Signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Close stops the source and ends [Queue.SendNotifications].
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	source := q.source
	q.mu.Unlock()
	if source != nil {
		source.Stop()
	}
	q.Signal()
}

// awaitNotifications waits for changes and returns their notifications. It returns none
// if the queue is closed or ctx is done.
func (q *Queue) awaitNotifications(ctx context.Context, subscription json.RawMessage) [][]byte {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.ready:
		}
		notifications := q.takeNotifications(subscription)
		source, closed := q.state()
		if source != nil {
			notifications = append(notifications, source.TakeNotifications(subscription)...)
		}
		if notifications != nil || closed {
			return notifications
		}
	}
}

// SendNotifications calls send with the notification of each change until the queue is
// closed or ctx is done, which is no error. A notification belongs to a subscription,
// unless it is nil.
func (q *Queue) SendNotifications(ctx context.Context, subscription json.RawMessage, send func(notification []byte) error) error {
	for {
		notifications := q.awaitNotifications(ctx, subscription)
		if notifications == nil {
			return nil
		}
		for _, n := range notifications {
			if err := send(n); err != nil {
				return err
			}
		}
	}
}

func (q *Queue) state() (source Source, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.source, q.closed
}

func (q *Queue) takeNotifications(subscription json.RawMessage) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	var notifications [][]byte
	for _, method := range slices.Sorted(maps.Keys(q.changedLists)) {
		notifications = append(notifications, msg.EncodeNotification(method, changeParams{Meta: msg.SubscriptionMeta(subscription)}))
	}
	for _, uri := range slices.Sorted(maps.Keys(q.updatedURIs)) {
		notifications = append(notifications, msg.EncodeNotification(mcp.MethodNotificationResourceUpdated, changeParams{msg.SubscriptionMeta(subscription), uri}))
	}
	clear(q.changedLists)
	clear(q.updatedURIs)
	return notifications
}

type changeParams struct {
	Meta map[string]any `json:"_meta,omitempty"`
	URI  string         `json:"uri,omitempty"`
}
