package tasks

import (
	"sync"

	"github.com/photon-beam/beam/internal/engine"
)

// A hub wakes the watchers of tasks when a task changes. However many watchers a
// task has, and however often they come and go, the hub registers one waiter with its
// run.
type hub struct {
	engine *engine.Engine

	mu    sync.Mutex
	tasks map[string]*watchedTask
}

type watchedTask struct {
	watchers map[*Watch]bool
	// isRegistered reports whether the engine wakes the hub at the run's next entry
	// after the ordinal after.
	isRegistered bool
	after        uint64
}

func newHub(e *engine.Engine) *hub {
	return &hub{engine: e, tasks: map[string]*watchedTask{}}
}

// watch wakes w once the task has an entry after the given ordinal, which may
// be at once. It reports whether the task exists.
func (h *hub) watch(w *Watch, id string, after uint64) bool {
	h.mu.Lock()
	t := h.tasks[id]
	if t == nil {
		t = &watchedTask{watchers: map[*Watch]bool{}}
		h.tasks[id] = t
	}
	t.watchers[w] = true
	if t.isRegistered {
		missed := t.after > after
		h.mu.Unlock()
		if missed {
			w.markChanged(id)
		}
		return true
	}
	t.isRegistered, t.after = true, after
	h.mu.Unlock()
	available, err := h.engine.AddWaiter(w.caller, id, after, taskWaiter{h, id})
	switch {
	case err != nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.tasks, id)
		return false
	case available:
		h.wakeWatchers(id)
	}
	return err == nil
}

// A taskWaiter notifies the hub that a task has changed.
type taskWaiter struct {
	hub *hub
	id  string
}

var _ engine.Waiter = taskWaiter{}

// Wake implements [engine.Waiter]. The goroutine that writes the run's log calls it, so
// it must not block.
func (w taskWaiter) Wake() { w.hub.wakeWatchers(w.id) }

// wakeWatchers wakes and removes the watchers of a task. They may watch it again.
func (h *hub) wakeWatchers(id string) {
	h.mu.Lock()
	t := h.tasks[id]
	delete(h.tasks, id)
	h.mu.Unlock()
	if t != nil {
		for w := range t.watchers {
			w.markChanged(id)
		}
	}
}

// unwatch removes w from the watchers of a task.
func (h *hub) unwatch(w *Watch, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[id]; t != nil {
		delete(t.watchers, w) // the waiter stays registered, and wakes nobody
	}
}
