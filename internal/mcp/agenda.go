package mcp

import (
	"container/heap"
	"sync"
	"time"
)

// An agenda wakes calls at their time. It has one timer, however many wait.
type agenda struct {
	epoch time.Time

	mu    sync.Mutex
	queue vigils
	timer *time.Timer
	rings time.Duration // when the timer does, on this clock; 0 if it does not
	ended bool
}

// A vigil is a call's place in the agenda.
type vigil struct {
	at    time.Duration // on the agenda's clock
	place int           // in the queue, from 1; 0 is not in it
	// wake is called at that time; it must return soon. It changes only while
	// the vigil is not in the queue.
	wake func()
}

func newAgenda() *agenda { return &agenda{epoch: time.Now()} }

// now is the agenda's clock. It is never 0.
func (a *agenda) now() time.Duration { return time.Since(a.epoch) + 1 }

// enter has a vigil woken at a time, once. The time for which it was entered
// before is forgotten.
func (a *agenda) enter(v *vigil, at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	v.at = at
	if v.place > 0 {
		heap.Fix(&a.queue, v.place-1)
	} else {
		heap.Push(&a.queue, v)
	}
	a.wind()
}

// strike takes a vigil out. Its call may be in the middle of being woken.
func (a *agenda) strike(v *vigil) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if v.place > 0 {
		heap.Remove(&a.queue, v.place-1)
	}
}

// wind sees to it that the timer rings for the first in the queue. It may ring
// earlier, for one that was struck: most are, and to set a timer may have to
// wake a thread. Callers hold mu.
func (a *agenda) wind() {
	if len(a.queue) == 0 || a.ended {
		return
	}
	first := a.queue[0].at
	if a.rings > 0 && a.rings <= first {
		return
	}
	a.rings = first
	if a.timer == nil {
		a.timer = time.AfterFunc(first-a.now(), a.ring)
	} else {
		a.timer.Reset(first - a.now())
	}
}

// ring wakes whose time has come.
func (a *agenda) ring() {
	var due []func()
	a.mu.Lock()
	a.rings = 0
	for now := a.now(); len(a.queue) > 0 && a.queue[0].at <= now; {
		due = append(due, heap.Pop(&a.queue).(*vigil).wake)
	}
	a.wind()
	a.mu.Unlock()
	for _, wake := range due {
		wake()
	}
}

// end has nobody woken any more.
func (a *agenda) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

// vigils is a heap, the earliest first.
type vigils []*vigil

var _ heap.Interface = (*vigils)(nil)

func (q vigils) Len() int           { return len(q) }
func (q vigils) Less(i, j int) bool { return q[i].at < q[j].at }

func (q vigils) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i+1, j+1
}

// Push implements [heap.Interface].
func (q *vigils) Push(x any) {
	v := x.(*vigil)
	*q = append(*q, v)
	v.place = len(*q)
}

// Pop implements [heap.Interface].
func (q *vigils) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	v.place = 0
	return v
}
