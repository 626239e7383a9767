// Package evict finds the durable runs whose generators need not be in memory. A durable run that
// waits or sleeps need not be, because its log has all that it did.
package evict

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// An Evictor evicts runs that have waited in memory for long, or of which there are too many. Its
// methods may be called from several goroutines.
type Evictor struct {
	after   time.Duration
	maxRuns int
	wake    chan struct{} // has a token if runs are to be evicted now or soon

	mu      sync.Mutex // guards waiting
	waiting map[Run]Idleness
}

// A Run can be evicted.
type Run interface {
	// Evict evicts the run, unless it has become active.
	Evict()
}

// An Idleness says since when a run could be evicted.
type Idleness struct {
	Since time.Time // when its last entry was applied
	// After is how long after that the run may still be working although it waits: it may report
	// progress in the meantime.
	After time.Duration
	Soon  bool // it is evicted as soon as it is idle
}

// A waiting run counts as working for IdleAfter after its last entry, or for
// ConcurrentIdleAfter if it was active while it waited.
const (
	ConcurrentIdleAfter = time.Second
	IdleAfter           = 100 * time.Millisecond
)

// New returns an evictor of runs that have waited for a time, and of those that have waited longest
// if there are more than maxRuns.
func New(after time.Duration, maxRuns int) *Evictor {
	return &Evictor{after: after, maxRuns: maxRuns, wake: make(chan struct{}, 1), waiting: make(map[Run]Idleness)}
}

// Add adds a run that could be evicted, or notes that it was active.
func (x *Evictor) Add(r Run, i Idleness) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, active := x.waiting[r]; active { // while it waited
		i.After = ConcurrentIdleAfter
	}
	x.waiting[r] = i
	if i.Soon || len(x.waiting) == x.maxRuns+1 { // otherwise run looks again anyway
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
}

// Remove removes a run.
func (x *Evictor) Remove(r Run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.waiting, r)
}

// Count returns the number of runs that could be evicted.
func (x *Evictor) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.waiting)
}

// IsIdle reports whether a run is in the evictor, and isn't working.
func (x *Evictor) IsIdle(r Run, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.waiting[r]
	return ok && now.Sub(i.Since) >= i.After
}

// Run evicts runs that have waited for long, or of which there are too many, until closing is
// closed.
func (x *Evictor) Run(closing <-chan struct{}) {
	regularly := min(max(x.after/4, ConcurrentIdleAfter), time.Minute)
	t := time.NewTimer(IdleAfter)
	defer t.Stop()
	for {
		select {
		case <-closing:
			return
		case <-t.C:
		case <-x.wake:
		}
		due, more := x.due(time.Now())
		for _, r := range due {
			r.Evict()
		}
		if more || x.Count() > x.maxRuns { // others have come meanwhile
			t.Reset(IdleAfter)
		} else {
			t.Reset(regularly)
		}
	}
}

// due returns the runs to evict, those first that have waited longest. more reports whether
// others are to be evicted soon, which may still be working.
func (x *Evictor) due(now time.Time) (due []Run, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	oldest := slices.SortedFunc(maps.Keys(x.waiting), func(a, b Run) int { return x.waiting[a].Since.Compare(x.waiting[b].Since) })
	tooMany := len(oldest) - x.maxRuns
	for _, r := range oldest {
		i := x.waiting[r]
		waited := now.Sub(i.Since)
		switch {
		case !i.Soon && tooMany <= 0 && waited < x.after: // it may stay
		case waited < i.After:
			more = true
		default:
			due = append(due, r)
			tooMany--
		}
	}
	return due, more
}
