package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
)

// A taskWatch tells a client how its tasks get on: by notifications/tasks/status
// on the session's own stream (MCP 2025-11-25), or notifications/tasks on a
// subscription (SEP-2663). It remembers for each task what was told last, until
// its end. However fast a task changes, the client is told how it is.
type taskWatch struct {
	server            *Server
	caller            engine.Caller
	buildNotification func(engine.Info, json.RawMessage) ([]byte, error)
	signal            func() // that there is something to look at

	mu       sync.Mutex
	moved    map[string]bool   // tasks to look at
	lastSent map[string]string // what was told last of each task, in short
	hasEnded bool
}

func (s *Server) newTaskWatch(caller engine.Caller, q *changeQueue) *taskWatch {
	return &taskWatch{server: s, caller: caller, signal: q.signal, moved: map[string]bool{}, lastSent: map[string]string{}}
}

// markMoved notes that a task has moved. It returns at once and calls nobody.
func (w *taskWatch) markMoved(id string) {
	w.mu.Lock()
	if !w.hasEnded {
		w.moved[id] = true
	}
	w.mu.Unlock()
	w.signal()
}

// watchTask has a task watched of which the client knows what told says, as of an
// ordinal.
func (w *taskWatch) watchTask(id, told string, after uint64) {
	w.mu.Lock()
	ended := w.hasEnded
	if !ended {
		w.lastSent[id] = told
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

// stopWatching stops watching.
func (w *taskWatch) stopWatching() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.hasEnded = true
	told := w.lastSent
	w.lastSent = nil
	w.mu.Unlock()
	for id := range told {
		w.server.taskHub.unwatch(w, id)
	}
}

// takeNotifications is what there is to tell.
func (w *taskWatch) takeNotifications(subscription json.RawMessage) [][]byte {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	moved := slices.Sorted(maps.Keys(w.moved))
	clear(w.moved)
	w.mu.Unlock()
	var said [][]byte
	for _, id := range moved {
		if n := w.buildStatusNotification(id, subscription); n != nil {
			said = append(said, n)
		}
	}
	return said
}

// buildStatusNotification is the notification of a task's state, if that is another than was told.
// A task that goes on is watched on.
func (w *taskWatch) buildStatusNotification(id string, subscription json.RawMessage) []byte {
	info, err := w.server.engine.Info(w.caller, id)
	if err != nil { // it was deleted
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
		w.server.logger.Error("telling of a task", "run", id, "err", err)
		return nil
	}
	return n
}

// summarizeState is what of a run makes another state of its task.
func summarizeState(info engine.Info) string {
	var b strings.Builder
	b.WriteString(string(info.State))
	for _, open := range info.Asks {
		b.WriteString(" " + open.Key)
	}
	return b.String()
}

// currentTaskWatch is the watch of the tasks that changes are told of; nil if there is
// none.
func (q *changeQueue) currentTaskWatch() *taskWatch {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taskWatch
}

// announceTask has the session's client told of a task that it is given now, if there
// is a stream to tell it on.
func (s *session) announceTask(info engine.Info) {
	s.mu.Lock()
	listens := !s.hasEnded && (s.steps != nil || s.cancelStandalone != nil)
	s.mu.Unlock()
	if !listens || info.State.Ended() {
		return
	}
	w := s.changes
	w.mu.Lock()
	if w.taskWatch == nil {
		w.taskWatch = s.server.newTaskWatch(s.caller, w)
		w.taskWatch.buildNotification = func(info engine.Info, _ json.RawMessage) ([]byte, error) {
			return encodeNotification("notifications/tasks/status", s.newTaskFor(s.initializedClient(), info)), nil
		}
	}
	t := w.taskWatch
	w.mu.Unlock()
	t.watchTask(info.ID, summarizeState(info), info.LastSeq)
}

// maxSubscribedTasks bounds the tasks of a subscription.
const maxSubscribedTasks = 10_000

// subscribeTasks takes the tasks of a subscription on: those of them that are the
// client's own. Each is told at once as it is, so that none ends unheard.
func (s *Server) subscribeTasks(rc *requestContext, q *changeQueue, f *subscription) *rpcError {
	switch {
	case f.Tasks == nil:
		return nil
	case !rc.client.supportsTasks():
		return missingTasksError()
	case len(f.Tasks) > maxSubscribedTasks:
		return rpcErrorf(mcp.INVALID_PARAMS, "a subscription has at most %d tasks", maxSubscribedTasks)
	}
	t := s.newTaskWatch(rc.client.caller, q)
	t.buildNotification = func(info engine.Info, subscription json.RawMessage) ([]byte, error) {
		d, err := s.newDetailedTask(rc, info)
		return encodeNotification("notifications/tasks", struct {
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
