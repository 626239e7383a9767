package engine

import (
	"cmp"
	"iter"
	"strings"

	"github.com/google/btree"
)

// Lists are kept in order as they change, in trees, so that a change and a page
// of one cost hardly more the longer the list is. A tree holds the lists of all
// owners one after the other: most owners have short ones.

// btreeDegree is how wide the trees are: a node has up to twice as many items.
const btreeDegree = 32

// compareOwnerAndStart orders an owner's runs by their start.
func compareOwnerAndStart(a, b *trackedRun) int {
	if c := strings.Compare(a.owner(), b.owner()); c != 0 {
		return c
	}
	return compareStart(a, b)
}

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

func compareAsked(a, b *openAsk) int {
	if c := a.askedAt.Compare(b.askedAt); c != 0 {
		return c
	}
	return compareAskID(a, b)
}

// compareAskID orders questions by their ids. Few orders come down to that, so it is
// not looked at before.
func compareAskID(a, b *openAsk) int {
	return cmp.Or(strings.Compare(a.run.id, b.run.id), cmp.Compare(a.seq, b.seq))
}

// pageSize is how much of a list is copied at once: nobody holds the index's lock
// while a list is read.
const pageSize = 64

// copyPage copies what follows an item in a list, at most step of it. walk goes
// over the tree from there, and listed tells whether it is still in the list.
func copyPage[T any](walk func(*T, btree.ItemIteratorG[*T]), after *T, listed func(*T) bool) []*T {
	items := make([]*T, 0, pageSize)
	walk(after, func(v *T) bool {
		if !listed(v) {
			return false
		}
		if v != after {
			items = append(items, v)
		}
		return len(items) < pageSize
	})
	return items
}

// mergeSorted yields what several lists have, in order. more returns what follows an
// item in one of them, or its beginning after nil, at most step of it.
func mergeSorted[T any](lists int, compare func(a, b *T) int, more func(list int, after *T) []*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		heads := make([][]*T, lists)
		for i := range heads {
			heads[i] = more(i, nil)
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
				heads[first] = more(first, v)
			}
		}
	}
}
