package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// A taskWatch tells a client how its tasks get on: by notifications/tasks/status
// on the session's own stream (MCP 2025-11-25), or notifications/tasks on a
// subscription (SEP-2663). It remembers for each task what was told last, until
// its end. However fast a task changes, the client is told how it is.
type taskWatch struct {
	server *Server
	who    run.Caller
	tell   func(run.Info, json.RawMessage) ([]byte, error)
	signal func() // that there is something to look at

	mu    sync.Mutex
	moved map[string]bool   // tasks to look at
	told  map[string]string // what was told last of each task, in short
	ended bool
}

func (s *Server) watchTasks(who run.Caller, w *changes) *taskWatch {
	return &taskWatch{server: s, who: who, signal: w.signal, moved: map[string]bool{}, told: map[string]string{}}
}

// wake notes that a task has moved. It returns at once and calls nobody.
func (t *taskWatch) wake(id string) {
	t.mu.Lock()
	if !t.ended {
		t.moved[id] = true
	}
	t.mu.Unlock()
	t.signal()
}

// follow has a task watched of which the client knows what told says, as of an
// ordinal.
func (t *taskWatch) follow(id, told string, after uint64) {
	t.mu.Lock()
	ended := t.ended
	if !ended {
		t.told[id] = told
	}
	t.mu.Unlock()
	if !ended && !t.server.taskHub.watch(t, id, after) {
		t.forget(id)
	}
}

func (t *taskWatch) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.told, id)
}

// end stops watching.
func (t *taskWatch) end() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.ended = true
	told := t.told
	t.told = nil
	t.mu.Unlock()
	for id := range told {
		t.server.taskHub.leave(t, id)
	}
}

// drain is what there is to tell.
func (t *taskWatch) drain(subscription json.RawMessage) [][]byte {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	moved := slices.Sorted(maps.Keys(t.moved))
	clear(t.moved)
	t.mu.Unlock()
	var said [][]byte
	for _, id := range moved {
		if n := t.look(id, subscription); n != nil {
			said = append(said, n)
		}
	}
	return said
}

// look is the notification of a task's state, if that is another than was told.
// A task that goes on is watched on.
func (t *taskWatch) look(id string, subscription json.RawMessage) []byte {
	info, err := t.server.engine.Info(t.who, id)
	if err != nil { // it was deleted
		t.forget(id)
		return nil
	}
	now := inShort(info)
	t.mu.Lock()
	before, watched := t.told[id]
	t.mu.Unlock()
	if info.State.Ended() {
		t.forget(id)
	} else {
		t.follow(id, now, info.Last)
	}
	if !watched || before == now {
		return nil
	}
	n, err := t.tell(info, subscription)
	if err != nil {
		t.server.logger.Error("telling of a task", "run", id, "err", err)
		return nil
	}
	return n
}

// inShort is what of a run makes another state of its task.
func inShort(info run.Info) string {
	var b strings.Builder
	b.WriteString(string(info.State))
	for _, open := range info.Asks {
		b.WriteString(" " + open.Key)
	}
	return b.String()
}

// watched is the watch of the tasks that changes are told of; nil if there is
// none.
func (w *changes) watched() *taskWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tasks
}

// tellOf has the session's client told of a task that it is given now, if there
// is a stream to tell it on.
func (s *session) tellOf(info run.Info) {
	s.mu.Lock()
	listens := !s.ended && (s.steps != nil || s.alone != nil)
	s.mu.Unlock()
	if !listens || info.State.Ended() {
		return
	}
	w := s.changes
	w.mu.Lock()
	if w.tasks == nil {
		w.tasks = s.server.watchTasks(s.who, w)
		w.tasks.tell = func(info run.Info, _ json.RawMessage) ([]byte, error) {
			return notification("notifications/tasks/status", s.taskFor(s.current(), info)), nil
		}
	}
	t := w.tasks
	w.mu.Unlock()
	t.follow(info.ID, inShort(info), info.Last)
}

// maxFollowed bounds the tasks of a subscription.
const maxFollowed = 10_000

// listenTasks takes the tasks of a subscription on: those of them that are the
// client's own. Each is told at once as it is, so that none ends unheard.
func (s *Server) listenTasks(x *exchange, w *changes, f *subscription) *rpcError {
	switch {
	case f.Tasks == nil:
		return nil
	case !x.client.takesTasks():
		return needsTasks()
	case len(f.Tasks) > maxFollowed:
		return faultf(mcp.INVALID_PARAMS, "a subscription has at most %d tasks", maxFollowed)
	}
	t := s.watchTasks(x.client.who, w)
	t.tell = func(info run.Info, subscription json.RawMessage) ([]byte, error) {
		d, err := s.detail(x, info)
		return notification("notifications/tasks", struct {
			Meta map[string]any `json:"_meta,omitempty"`
			detailed
		}{subscribed(subscription), d}), err
	}
	w.tasks = t
	slices.Sort(f.Tasks)
	f.Tasks = slices.DeleteFunc(slices.Compact(f.Tasks), func(id string) bool {
		_, refused := s.runOf(x.client.who, id)
		if refused == nil {
			t.follow(id, "", 0)
		}
		return refused != nil
	})
	return nil
}
