package tasks

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A Watch makes notifications of changes of a client's tasks: notifications/tasks/status
// for the session's stream (MCP 2025-11-25), or notifications/tasks for a subscription
// (SEP-2663). Until a task ends, it remembers the state that it reported last. However
// fast a task changes, the client learns only its current state. A Watch is a
// [changes.Source].
type Watch struct {
	service           *Service
	caller            generators.Caller
	buildNotification func(engine.Info, json.RawMessage) ([]byte, error)
	signal            func() // called when a task may have changed

	mu       sync.Mutex
	changed  map[string]bool   // tasks that may have changed
	lastSent map[string]string // summary of the state that was reported last, by task
	hasEnded bool
}

var _ changes.Source = (*Watch)(nil)

func (s *Service) newWatch(caller generators.Caller, signal func()) *Watch {
	return &Watch{service: s, caller: caller, signal: signal, changed: map[string]bool{}, lastSent: map[string]string{}}
}

// NewStatusWatch returns a watch without tasks that makes notifications/tasks/status. It
// calls signal when there may be one, and requester for each.
func (s *Service) NewStatusWatch(caller generators.Caller, requester func() Requester, signal func()) *Watch {
	w := s.newWatch(caller, signal)
	w.buildNotification = func(info engine.Info, _ json.RawMessage) ([]byte, error) {
		return msg.EncodeNotification("notifications/tasks/status", s.newTaskFor(requester(), info)), nil
	}
	return w
}

// maxSubscribedTasks is the maximum number of tasks in a subscription.
const maxSubscribedTasks = 10_000

// Subscribe returns a watch of those of the tasks that belong to the requester, and
// their ids. The watch makes notifications/tasks, first of the state of each task, so
// that the client misses none that ends. It calls signal when there may be one.
func (s *Service) Subscribe(r Requester, ids []string, signal func()) (w *Watch, watched []string, refused *msg.Error) {
	switch {
	case !supportsExtension(r.Client):
		return nil, nil, missingExtensionError()
	case len(ids) > maxSubscribedTasks:
		return nil, nil, msg.Errorf(mcp.INVALID_PARAMS, "a subscription has at most %d tasks", maxSubscribedTasks)
	}
	w = s.newWatch(r.Caller, signal)
	w.buildNotification = func(info engine.Info, subscription json.RawMessage) ([]byte, error) {
		d, err := s.newDetailedTask(r, info)
		return msg.EncodeNotification("notifications/tasks", struct {
			Meta map[string]any `json:"_meta,omitempty"`
			detailedTask
		}{msg.SubscriptionMeta(subscription), d}), err
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	watched = slices.DeleteFunc(slices.Compact(ids), func(id string) bool {
		_, refused := s.findRun(r.Caller, id, extensionSurfaces...)
		if refused == nil {
			w.watchTask(id, "", 0)
		}
		return refused != nil
	})
	return w, watched, nil
}

// Add adds a task whose state the client knows.
func (w *Watch) Add(info engine.Info) {
	if !info.State.Ended() {
		w.watchTask(info.ID, summarizeState(info), info.LastSeq)
	}
}

// AddUnknown adds a task whose state the client may not know.
func (w *Watch) AddUnknown(id string) { w.watchTask(id, "", 0) }

// markChanged records that a task may have changed. It does not block.
func (w *Watch) markChanged(id string) {
	w.mu.Lock()
	if !w.hasEnded {
		w.changed[id] = true
	}
	w.mu.Unlock()
	w.signal()
}

// watchTask watches a task for entries after the given ordinal. Sent is the
// summary of the state that the client knows.
func (w *Watch) watchTask(id, sent string, after uint64) {
	w.mu.Lock()
	ended := w.hasEnded
	if !ended {
		w.lastSent[id] = sent
	}
	w.mu.Unlock()
	if !ended && !w.service.hub.watch(w, id, after) {
		w.forgetTask(id)
	}
}

func (w *Watch) forgetTask(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lastSent, id)
}

// Stop implements [changes.Source]: it stops watching all tasks.
func (w *Watch) Stop() {
	w.mu.Lock()
	w.hasEnded = true
	watched := w.lastSent
	w.lastSent = nil
	w.mu.Unlock()
	for id := range watched {
		w.service.hub.unwatch(w, id)
	}
}

// TakeNotifications implements [changes.Source].
func (w *Watch) TakeNotifications(subscription json.RawMessage) [][]byte {
	w.mu.Lock()
	moved := slices.Sorted(maps.Keys(w.changed))
	clear(w.changed)
	w.mu.Unlock()
	var notifications [][]byte
	for _, id := range moved {
		if n := w.buildStatusNotification(id, subscription); n != nil {
			notifications = append(notifications, n)
		}
	}
	return notifications
}

// buildStatusNotification returns the notification of a task's state, or nil if that is
// the state that was sent last. It goes on watching a task that has not ended.
func (w *Watch) buildStatusNotification(id string, subscription json.RawMessage) []byte {
	info, err := w.service.Engine.Info(w.caller, id)
	if err != nil { // the task was deleted
		w.forgetTask(id)
		return nil
	}
	now := summarizeState(info)
	w.mu.Lock()
	before, watched := w.lastSent[id]
	w.mu.Unlock()
	if info.State.Ended() {
		w.forgetTask(id)
	} else {
		w.watchTask(id, now, info.LastSeq)
	}
	if !watched || before == now {
		return nil
	}
	n, err := w.buildNotification(info, subscription)
	if err != nil {
		w.service.Logger.Error("sending a task's state", "run", id, "err", err)
		return nil
	}
	return n
}

// summarizeState returns a string that changes whenever the state of a run's task does.
func summarizeState(info engine.Info) string {
	var b strings.Builder
	b.WriteString(string(info.State))
	for _, open := range info.Asks {
		b.WriteString(" " + open.Key)
	}
	return b.String()
}
