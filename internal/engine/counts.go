package engine

import (
	"slices"
	"sync/atomic"
	"time"
)

// Counts are the numbers that [Engine.Counts] returns.
type Counts struct {
	Runs      map[State]int // those that the log has, including ended ones
	Resident  int           // durable runs that wait in memory and could be evicted
	Followers int           // of runs: streams, pages and calls
}

// Counts returns the current numbers. Its cost doesn't depend on how many runs
// there are.
func (e *Engine) Counts() Counts {
	c := Counts{
		Runs:      make(map[State]int, len(States)),
		Followers: int(e.counters.followers.Load()),
		Resident:  e.evictionQueue.count(),
	}
	for i, s := range States {
		c.Runs[s] = int(e.counters.runs[i].Load())
	}
	return c
}

// CountOpenAsksByAge counts the open questions of all owners by age. bounds are in
// ascending order. open[i] is the number of questions that are younger than
// bounds[i], but not than the bound before; the last element counts the rest.
// oldest is the age of the oldest question, or 0 if none is open. The method
// walks the list: a million questions take some tenths of a second.
func (e *Engine) CountOpenAsksByAge(bounds ...time.Duration) (open []int, oldest time.Duration) {
	open = make([]int, len(bounds)+1)
	now := time.Now()
	for a := range e.index.allAsks(nil) {
		age := max(0, now.Sub(a.AskedAt))
		i, _ := slices.BinarySearch(bounds, age+1)
		open[i]++
		oldest = max(oldest, age)
	}
	return open, oldest
}

// counters are updated with every change. They may be used from several goroutines.
type counters struct {
	runs      [len(States)]atomic.Int64 // in the order of States
	followers atomic.Int64
}

func (c *counters) addToState(s State, n int64) {
	for i := range States {
		if States[i] == s {
			c.runs[i].Add(n)
		}
	}
}

// countStateChange counts a change of a run's state. The run's first entry only
// adds to the new state.
func (c *counters) countStateChange(from, to State, first bool) {
	switch {
	case first:
		c.addToState(to, 1)
	case from != to:
		c.addToState(from, -1)
		c.addToState(to, 1)
	}
}

// uncountRun uncounts a run that is removed. Callers hold r.mu.
func (c *counters) uncountRun(r *trackedRun) {
	if r.Last == 0 {
		return // it was never recorded
	}
	c.addToState(r.State, -1)
}

// countRuns counts the runs that were read from the log.
func (c *counters) countRuns(runs []*trackedRun) {
	for _, r := range runs {
		c.addToState(r.State, 1)
	}
}

// count returns the number of runs that could be evicted.
func (q *evictionQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.runs.Len() + q.soon.Len()
}
