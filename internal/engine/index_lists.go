package engine

import (
	"cmp"
	"iter"
	"strings"

	"github.com/google/btree"
	"github.com/photon-beam/beam/internal/runlog"
)

// runsNewestFirst yields the runs of some owners, newest first.
func (x *index) runsNewestFirst(owners []string) iter.Seq[*trackedRun] {
	return mergeSorted(len(owners), compareStartDescending, func(i int, after *trackedRun) []*trackedRun {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil { // start at the upper bound of this owner's runs
			after = &trackedRun{started: runlog.Started{Owner: owners[i] + "\x00"}}
		}
		return copyPage(x.byOwnerAndStart.DescendLessOrEqual, after, func(r *trackedRun) bool { return r.owner() == owners[i] })
	})
}

// asksOldestFirst yields the open questions of some owners, oldest first.
func (x *index) asksOldestFirst(owners []string) iter.Seq[*openAsk] {
	return mergeSorted(len(owners), compareAsked, func(i int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &trackedRun{started: runlog.Started{Owner: owners[i]}}}
		}
		return copyPage(x.byOwnerAndAsked.AscendGreaterOrEqual, after, func(a *openAsk) bool { return a.run.owner() == owners[i] })
	})
}

// allAsks yields the open questions of all owners.
func (x *index) allAsks() iter.Seq[*openAsk] {
	return mergeSorted(1, compareAsked, func(_ int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &trackedRun{}}
		}
		return copyPage(x.byOwnerAndAsked.AscendGreaterOrEqual, after, func(*openAsk) bool { return true })
	})
}

// countOpenAsks returns the number of one owner's open questions.
func (x *index) countOpenAsks(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o := x.owners[name]; o != nil {
		return o.openAsks
	}
	return 0
}

// Lists are B-trees, so that the cost of a change and of a page hardly grows with
// the length of the list. One tree has the lists of all owners, one after the
// other, because most owners have short ones.

// btreeDegree is the degree of the trees: a node has up to twice as many items.
const btreeDegree = 32

// compareOwnerAndStart orders an owner's runs by their start.
func compareOwnerAndStart(a, b *trackedRun) int {
	if c := strings.Compare(a.owner(), b.owner()); c != 0 {
		return c
	}
	return compareStart(a, b)
}

// compareStart orders runs by their start.
func compareStart(a, b *trackedRun) int {
	if c := a.startedAt.Compare(b.startedAt); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

func compareStartDescending(a, b *trackedRun) int { return compareStart(b, a) }

// compareOwnerAndAsked orders an owner's questions by when they were asked.
func compareOwnerAndAsked(a, b *openAsk) int {
	if c := strings.Compare(a.run.owner(), b.run.owner()); c != 0 {
		return c
	}
	return compareAsked(a, b)
}

// compareAsked orders questions by when they were asked.
func compareAsked(a, b *openAsk) int {
	if c := a.askedAt.Compare(b.askedAt); c != 0 {
		return c
	}
	return compareAskID(a, b)
}

// compareAskID orders questions by their ids. It breaks ties only.
func compareAskID(a, b *openAsk) int {
	return cmp.Or(strings.Compare(a.run.id, b.run.id), cmp.Compare(a.seq, b.seq))
}

// pageSize is how many items of a list are copied at once, so that the index isn't
// locked while a list is read.
const pageSize = 64

// copyPage returns the items that follow an item in a list, at most pageSize. walk
// iterates over the tree from that item, and inList reports whether an item still
// belongs to the list.
func copyPage[T any](walk func(*T, btree.ItemIteratorG[*T]), after *T, inList func(*T) bool) []*T {
	items := make([]*T, 0, pageSize)
	walk(after, func(v *T) bool {
		if !inList(v) {
			return false
		}
		if v != after {
			items = append(items, v)
		}
		return len(items) < pageSize
	})
	return items
}

// mergeSorted yields the items of several sorted lists in order. nextPage returns a
// page of the items that follow an item in one of the lists, or of its first
// items if after is nil.
func mergeSorted[T any](lists int, compare func(a, b *T) int, nextPage func(list int, after *T) []*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		heads := make([][]*T, lists)
		for i := range heads {
			heads[i] = nextPage(i, nil)
		}
		for {
			first := -1
			for i, head := range heads {
				if len(head) > 0 && (first < 0 || compare(head[0], heads[first][0]) < 0) {
					first = i
				}
			}
			if first < 0 {
				return
			}
			v := heads[first][0]
			if !yield(v) {
				return
			}
			if heads[first] = heads[first][1:]; len(heads[first]) == 0 {
				heads[first] = nextPage(first, v)
			}
		}
	}
}
