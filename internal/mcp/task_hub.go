package mcp

import (
	"sync"

	"github.com/photon-beam/beam/internal/run"
)

// A taskHub wakes whoever watches tasks when one of those moves. However many
// watch a task, and however often they come and go, its run has one callback.
type taskHub struct {
	engine *run.Engine

	mu    sync.Mutex
	tasks map[string]*hubTask
}

type hubTask struct {
	watchers map[*taskWatch]bool
	// armed says that the run calls back at its next entry after an ordinal.
	armed bool
	after uint64
}

func newTaskHub(e *run.Engine) *taskHub { return &taskHub{engine: e, tasks: map[string]*hubTask{}} }

// watch has w woken once the task has an entry after an ordinal, which may be at
// once. It tells whether there is such a task.
func (h *taskHub) watch(w *taskWatch, id string, after uint64) bool {
	h.mu.Lock()
	t := h.tasks[id]
	if t == nil {
		t = &hubTask{watchers: map[*taskWatch]bool{}}
		h.tasks[id] = t
	}
	t.watchers[w] = true
	if t.armed {
		missed := t.after > after
		h.mu.Unlock()
		if missed {
			w.wake(id)
		}
		return true
	}
	t.armed, t.after = true, after
	h.mu.Unlock()
	there, err := h.engine.When(w.who, id, after, hubWaiter{h, id})
	switch {
	case err != nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.tasks, id)
		return false
	case there:
		h.moved(id)
	}
	return err == nil
}

// A hubWaiter tells the hub that a task has moved.
type hubWaiter struct {
	hub *taskHub
	id  string
}

var _ run.Waiter = hubWaiter{}

// Wake implements [run.Waiter]. Whoever writes to the run's log calls it, and is
// not kept waiting.
func (w hubWaiter) Wake() { w.hub.moved(w.id) }

// moved wakes the watchers of a task, which watch it again if they want.
func (h *taskHub) moved(id string) {
	h.mu.Lock()
	t := h.tasks[id]
	delete(h.tasks, id)
	h.mu.Unlock()
	if t != nil {
		for w := range t.watchers {
			w.wake(id)
		}
	}
}

// leave has w woken no more for a task.
func (h *taskHub) leave(w *taskWatch, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[id]; t != nil {
		delete(t.watchers, w) // the run's callback finds nobody to wake
	}
}
