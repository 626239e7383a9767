package engine

import (
	"slices"
	"sync/atomic"
	"time"
)

// Counts are how many of what an engine has. They are kept as things change: to
// tell them costs the same however many there are.
type Counts struct {
	Runs      map[State]int // that are kept, ended ones too
	Resident  int           // durable runs that wait in memory, and could be let go
	Followers int           // of runs: streams, pages, calls
}

// Counts returns how many there are now.
func (e *Engine) Counts() Counts {
	c := Counts{Runs: make(map[State]int, len(allStates)), Followers: int(e.counters.followers.Load()), Resident: e.residency.countEvictable()}
	for i, s := range allStates {
		c.Runs[s] = int(e.counters.runs[i].Load())
	}
	return c
}

// CountOpenAsksByAge counts all open questions by age: those younger than the first
// bound, those younger than the next, and so on, and last those older than all
// bounds, which ascend. oldest is the age of the oldest; 0 if none is open. It
// walks the list of them: a million take some tenths of a second.
func (e *Engine) CountOpenAsksByAge(bounds ...time.Duration) (open []int, oldest time.Duration) {
	open = make([]int, len(bounds)+1)
	now := time.Now()
	for a := range e.index.allAsks() {
		age := max(0, now.Sub(a.askedAt))
		i, _ := slices.BinarySearch(bounds, age+1)
		open[i]++
		oldest = max(oldest, age)
	}
	return open, oldest
}

// allStates are all states, in the order in which tally counts them.
var allStates = [...]State{Running, Waiting, Completed, Failed, Stopped, Interrupted}

// counters is what an engine counts as it changes.
type counters struct {
	runs      [len(allStates)]atomic.Int64
	followers atomic.Int64
}

func (t *counters) addToState(s State, n int64) {
	for i := range allStates {
		if allStates[i] == s {
			t.runs[i].Add(n)
		}
	}
}

// countStateChange counts a change of a run's state; its first entry brings it in.
func (t *counters) countStateChange(from, to State, first bool) {
	switch {
	case first:
		t.addToState(to, 1)
	case from != to:
		t.addToState(from, -1)
		t.addToState(to, 1)
	}
}

// uncountRun counts a run that is forgotten. Callers hold r.mu.
func (t *counters) uncountRun(r *trackedRun) {
	if r.lastSeq == 0 {
		return // it was never recorded
	}
	t.addToState(r.state, -1)
}

// countRuns counts what was read back.
func (t *counters) countRuns(runs []*trackedRun) {
	for _, r := range runs {
		t.addToState(r.state, 1)
	}
}

// countEvictable is how many runs wait in memory that could be let go.
func (h *residency) countEvictable() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.evictable.Len()
}
