package run

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// ages counts open questions by how old they are. It holds no question: what it
// costs does not grow with their number, and telling the ages walks no list of
// them. The ages that it tells are exact to a second and a 32nd. Its methods may
// be called from several goroutines.
type ages struct {
	mu sync.Mutex
	// slots are in order and don't overlap. The times between them have no
	// questions.
	slots []slot
}

// A slot is a stretch of time, in Unix seconds, both ends included, and how many
// questions that were asked in it are open.
type slot struct {
	from, to int64
	open     int
}

// maxSlots is when slots are merged. After that there are fewer than half as
// many, even if questions have come in every second for a hundred years.
const maxSlots = 4096

// find returns the index of the slot that has a time, or of where it would be.
func (a *ages) find(at int64) (i int, found bool) {
	i, _ = slices.BinarySearchFunc(a.slots, at, func(s slot, at int64) int { return cmp.Compare(s.to, at) })
	return i, i < len(a.slots) && a.slots[i].from <= at
}

func (a *ages) asked(since time.Time) {
	at := since.Unix()
	a.mu.Lock()
	defer a.mu.Unlock()
	i, found := a.find(at)
	if !found {
		if len(a.slots) >= maxSlots {
			a.merge(time.Now().Unix())
			i, found = a.find(at)
		}
		if !found {
			a.slots = slices.Insert(a.slots, i, slot{from: at, to: at})
		}
	}
	a.slots[i].open++
}

func (a *ages) settled(since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, found := a.find(since.Unix())
	if !found {
		return
	}
	if a.slots[i].open--; a.slots[i].open == 0 {
		a.slots = slices.Delete(a.slots, i, i+1)
	}
}

// merge puts neighbours together whose stretch is short for their age.
func (a *ages) merge(now int64) {
	merged := a.slots[:1]
	for _, s := range a.slots[1:] {
		last := &merged[len(merged)-1]
		if s.to-last.from <= (now-s.to)/32 {
			last.to, last.open = s.to, last.open+s.open
		} else {
			merged = append(merged, s)
		}
	}
	a.slots = merged
}

// tell counts the questions by age: younger than the first bound, younger than
// the next, and so on, and last those that are older than all. Bounds ascend.
// oldest is the age of the oldest; 0 if none is open.
func (a *ages) tell(bounds []time.Duration) (open []int, oldest time.Duration) {
	open = make([]int, len(bounds)+1)
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.slots {
		age := max(0, now.Sub(time.Unix((s.from+s.to)/2, 0)))
		i, _ := slices.BinarySearch(bounds, age+1)
		open[i] += s.open
	}
	if len(a.slots) > 0 {
		oldest = max(0, now.Sub(time.Unix(a.slots[0].from, 0)))
	}
	return open, oldest
}
