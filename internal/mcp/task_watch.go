package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A taskWatch notifies a client of changes of its tasks: with
// notifications/tasks/status on the session's stream (MCP 2025-11-25), or with
// notifications/tasks on a subscription (SEP-2663). Until a task ends, it remembers the
// state that it sent last. However fast a task changes, the client is sent only its
// current state.
type taskWatch struct {
	server            *Server
	caller            engine.Caller
	buildNotification func(engine.Info, json.RawMessage) ([]byte, error)
	signal            func() // called when a task may have changed

	mu       sync.Mutex
	changed  map[string]bool   // tasks that may have changed
	lastSent map[string]string // summary of the state that was sent last, by task
	hasEnded bool
}

func (s *Server) newTaskWatch(caller engine.Caller, q *changeQueue) *taskWatch {
	return &taskWatch{server: s, caller: caller, signal: q.signal, changed: map[string]bool{}, lastSent: map[string]string{}}
}

// markChanged records that a task may have changed. It does not block.
func (w *taskWatch) markChanged(id string) {
	w.mu.Lock()
	if !w.hasEnded {
		w.changed[id] = true
	}
	w.mu.Unlock()
	w.signal()
}

// watchTask watches a task for entries after the given sequence number. Sent is the
// summary of the state that the client knows.
func (w *taskWatch) watchTask(id, sent string, after uint64) {
	w.mu.Lock()
	ended := w.hasEnded
	if !ended {
		w.lastSent[id] = sent
	}
	w.mu.Unlock()
	if !ended && !w.server.taskHub.watch(w, id, after) {
		w.forgetTask(id)
	}
}

func (w *taskWatch) forgetTask(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lastSent, id)
}

// stopWatching stops watching all tasks.
func (w *taskWatch) stopWatching() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.hasEnded = true
	watched := w.lastSent
	w.lastSent = nil
	w.mu.Unlock()
	for id := range watched {
		w.server.taskHub.unwatch(w, id)
	}
}

// takeNotifications returns the notifications that are due.
func (w *taskWatch) takeNotifications(subscription json.RawMessage) [][]byte {
	if w == nil {
		return nil
	}
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
func (w *taskWatch) buildStatusNotification(id string, subscription json.RawMessage) []byte {
	info, err := w.server.engine.Info(w.caller, id)
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
		w.server.logger.Error("sending a task's state", "run", id, "err", err)
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

// currentTaskWatch returns the queue's task watch, or nil if there is none.
func (q *changeQueue) currentTaskWatch() *taskWatch {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taskWatch
}

// announceTask notifies the session's client of changes of a new task, if there is a
// stream for that.
func (s *session) announceTask(info engine.Info) {
	s.mu.Lock()
	hasStream := !s.hasEnded && (s.steps != nil || s.cancelStandalone != nil)
	s.mu.Unlock()
	if !hasStream || info.State.Ended() {
		return
	}
	w := s.changes
	w.mu.Lock()
	if w.taskWatch == nil {
		w.taskWatch = s.server.newTaskWatch(s.caller, w)
		w.taskWatch.buildNotification = func(info engine.Info, _ json.RawMessage) ([]byte, error) {
			return msg.EncodeNotification("notifications/tasks/status", s.newTaskFor(s.initializedClient(), info)), nil
		}
	}
	t := w.taskWatch
	w.mu.Unlock()
	t.watchTask(info.ID, summarizeState(info), info.LastSeq)
}

// maxSubscribedTasks is the maximum number of tasks in a subscription.
const maxSubscribedTasks = 10_000

// subscribeTasks watches the tasks of a subscription that belong to the client, and
// removes the others from it. The client is sent the state of each at once, so that it
// misses none that ends.
func (s *Server) subscribeTasks(rc *requestContext, q *changeQueue, f *subscription) *msg.Error {
	switch {
	case f.Tasks == nil:
		return nil
	case !rc.client.supportsTasks():
		return missingTasksError()
	case len(f.Tasks) > maxSubscribedTasks:
		return msg.Errorf(mcp.INVALID_PARAMS, "a subscription has at most %d tasks", maxSubscribedTasks)
	}
	t := s.newTaskWatch(rc.client.caller, q)
	t.buildNotification = func(info engine.Info, subscription json.RawMessage) ([]byte, error) {
		d, err := s.newDetailedTask(rc, info)
		return msg.EncodeNotification("notifications/tasks", struct {
			Meta map[string]any `json:"_meta,omitempty"`
			detailedTask
		}{subscriptionMeta(subscription), d}), err
	}
	q.taskWatch = t
	slices.Sort(f.Tasks)
	f.Tasks = slices.DeleteFunc(slices.Compact(f.Tasks), func(id string) bool {
		_, refused := s.findTaskRun(rc.client.caller, id)
		if refused == nil {
			t.watchTask(id, "", 0)
		}
		return refused != nil
	})
	return nil
}
