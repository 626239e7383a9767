package client

import "sync"

// The limits of a call's queue. The server waits if the call's owner is slower.
const (
	maxQueuedEvents = 1000
	maxQueuedBytes  = 4 << 20
)

// An eventQueue holds the events of a call that were not read yet. Who adds to a full
// one waits, so that nothing is lost: the server is read no further.
type eventQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	events  []Event
	bytes   int
	end     *callEnd
}

func newEventQueue() *eventQueue {
	q := new(eventQueue)
	q.changed.L = &q.mu
	return q
}

func (e Event) size() int {
	switch {
	case e.Notification != nil:
		return len(e.Notification.Params)
	case e.Request != nil:
		return len(e.Request.Params)
	}
	return 0
}

// push adds an event, and waits while the queue is full. It drops what comes after the
// end, and reports false. The end itself is added at once.
func (q *eventQueue) push(e Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.end != nil && q.end == nil {
		q.end = e.end
		q.changed.Broadcast()
		return true
	}
	for q.end == nil && (len(q.events) >= maxQueuedEvents || q.bytes >= maxQueuedBytes) {
		q.changed.Wait()
	}
	if q.end != nil {
		return false
	}
	q.events = append(q.events, e)
	q.bytes += e.size()
	q.changed.Broadcast()
	return true
}

// next returns the next event, or false after the last.
func (q *eventQueue) next() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) == 0 && q.end == nil {
		q.changed.Wait()
	}
	if len(q.events) == 0 {
		return Event{}, false
	}
	e := q.events[0]
	q.events[0] = Event{}
	if q.events = q.events[1:]; len(q.events) == 0 {
		q.events = nil
	}
	q.bytes -= e.size()
	q.changed.Broadcast()
	return e, true
}

// wait returns the end, once there is one.
func (q *eventQueue) wait() callEnd {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.end == nil {
		q.changed.Wait()
	}
	return *q.end
}
