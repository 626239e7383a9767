package mcp

import (
	"sync"

	"github.com/photon-beam/beam/internal/engine"
)

// A taskHub wakes whoever watches tasks when one of those moves. However many
// watch a task, and however often they come and go, its run has one callback.
type taskHub struct {
	engine *engine.Engine

	mu    sync.Mutex
	tasks map[string]*watchedTask
}

type watchedTask struct {
	watchers map[*taskWatch]bool
	// isRegistered says that the run calls back at its next entry after an ordinal.
	isRegistered bool
	after        uint64
}

func newTaskHub(e *engine.Engine) *taskHub {
	return &taskHub{engine: e, tasks: map[string]*watchedTask{}}
}

// watch has w woken once the task has an entry after an ordinal, which may be at
// once. It tells whether there is such a task.
func (h *taskHub) watch(w *taskWatch, id string, after uint64) bool {
	h.mu.Lock()
	t := h.tasks[id]
	if t == nil {
		t = &watchedTask{watchers: map[*taskWatch]bool{}}
		h.tasks[id] = t
	}
	t.watchers[w] = true
	if t.isRegistered {
		missed := t.after > after
		h.mu.Unlock()
		if missed {
			w.markMoved(id)
		}
		return true
	}
	t.isRegistered, t.after = true, after
	h.mu.Unlock()
	there, err := h.engine.AddWaiter(w.caller, id, after, taskWaiter{h, id})
	switch {
	case err != nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.tasks, id)
		return false
	case there:
		h.wakeWatchers(id)
	}
	return err == nil
}

// A taskWaiter tells the hub that a task has moved.
type taskWaiter struct {
	hub *taskHub
	id  string
}

var _ engine.Waiter = taskWaiter{}

// Wake implements [run.Waiter]. Whoever writes to the run's log calls it, and is
// not kept waiting.
func (w taskWaiter) Wake() { w.hub.wakeWatchers(w.id) }

// wakeWatchers wakes the watchers of a task, which watch it again if they want.
func (h *taskHub) wakeWatchers(id string) {
	h.mu.Lock()
	t := h.tasks[id]
	delete(h.tasks, id)
	h.mu.Unlock()
	if t != nil {
		for w := range t.watchers {
			w.markMoved(id)
		}
	}
}

// unwatch has w woken no more for a task.
func (h *taskHub) unwatch(w *taskWatch, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[id]; t != nil {
		delete(t.watchers, w) // the run's callback finds nobody to wake
	}
}
