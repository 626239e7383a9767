package run

import (
	"slices"
	"sync/atomic"
	"time"
)

// Counts are how many of what an engine has. They are kept as things change: to
// tell them costs the same however many there are.
type Counts struct {
	Runs      map[State]int // that are kept, ended ones too
	Hot       int           // durable runs that wait in memory, and could be let go
	Followers int           // of runs: streams, pages, calls
}

// Counts returns how many there are now.
func (e *Engine) Counts() Counts {
	c := Counts{Runs: make(map[State]int, len(states)), Followers: int(e.tally.followers.Load()), Hot: e.heat.count()}
	for i, s := range states {
		c.Runs[s] = int(e.tally.runs[i].Load())
	}
	return c
}

// OpenAges counts all open questions by age: those younger than the first
// bound, those younger than the next, and so on, and last those older than all
// bounds, which ascend. oldest is the age of the oldest; 0 if none is open. It
// walks the list of them: a million take some tenths of a second.
func (e *Engine) OpenAges(bounds ...time.Duration) (open []int, oldest time.Duration) {
	open = make([]int, len(bounds)+1)
	now := time.Now()
	for a := range e.index.allAsks() {
		age := max(0, now.Sub(a.since))
		i, _ := slices.BinarySearch(bounds, age+1)
		open[i]++
		oldest = max(oldest, age)
	}
	return open, oldest
}

// states are all states, in the order in which tally counts them.
var states = [...]State{Running, Waiting, Completed, Failed, Stopped, Interrupted}

// tally is what an engine counts as it changes.
type tally struct {
	runs      [len(states)]atomic.Int64
	followers atomic.Int64
}

func (t *tally) add(s State, n int64) {
	for i := range states {
		if states[i] == s {
			t.runs[i].Add(n)
		}
	}
}

// moved counts a change of a run's state; its first entry brings it in.
func (t *tally) moved(from, to State, first bool) {
	switch {
	case first:
		t.add(to, 1)
	case from != to:
		t.add(from, -1)
		t.add(to, 1)
	}
}

// removed counts a run that is forgotten. Callers hold r.mu.
func (t *tally) removed(r *record) {
	if r.last == 0 {
		return // it was never recorded
	}
	t.add(r.state, -1)
}

// load counts what was read back.
func (t *tally) load(runs []*record) {
	for _, r := range runs {
		t.add(r.state, 1)
	}
}

// count is how many runs wait in memory that could be let go.
func (h *heat) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting.Len()
}
