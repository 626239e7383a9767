package engine

import (
	"cmp"
	"iter"
	"strings"

	"github.com/google/btree"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// usesAllRuns reports whether a caller sees, answers and stops the runs of all
// owners.
func usesAllRuns(c generators.Caller) bool { return c.ID != "" && c.HasRole(generators.RoleOperator) }

// runsNewestFirst yields the runs that a caller may use, newest first.
func (x *index) runsNewestFirst(c generators.Caller) iter.Seq[*trackedRun] {
	return x.runsAfter(c, nil)
}

// runsAfter yields the runs that a caller may use and that follow a run, newest first. That
// run, of which only the start and the id count, need not be in the list; nil means all.
func (x *index) runsAfter(c generators.Caller, first *trackedRun) iter.Seq[*trackedRun] {
	return readPages(first, func(after *trackedRun) []*trackedRun {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if usesAllRuns(c) {
			return copyPage(x.byStart.Descend, x.byStart.DescendLessOrEqual, after, after, compareStart, nil)
		}
		// The last run of a page may have another owner by now.
		from := &trackedRun{Run: runstate.Run{Start: runlog.Started{Owner: c.ID + "\x00"}}} // the upper bound of the owner's runs
		if after != nil {
			from = &trackedRun{id: after.id, Run: runstate.Run{StartedAt: after.StartedAt, Start: runlog.Started{Owner: c.ID}}}
		}
		return copyPage(nil, x.byOwnerAndStart.DescendLessOrEqual, from, after, compareStart, func(r *trackedRun) bool { return r.owner() == c.ID })
	})
}

// asksAfter yields the open questions of the runs that a caller may use and that follow a
// question, oldest first. That question, of which only the id and when it was asked count,
// need not be in the list; nil means all.
func (x *index) asksAfter(c generators.Caller, first *openAsk) iter.Seq[*openAsk] {
	if usesAllRuns(c) {
		return x.allAsks(first)
	}
	return readPages(first, func(after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		from := &openAsk{Ask: &runstate.Ask{}, deadline: deadline{run: &trackedRun{Run: runstate.Run{Start: runlog.Started{Owner: c.ID}}}}} // the lower bound of the owner's questions
		if after != nil {
			from.run.id, from.seq, from.AskedAt = after.run.id, after.seq, after.AskedAt
		}
		return copyPage(nil, x.byOwnerAndAsked.AscendGreaterOrEqual, from, after, compareAsked, func(a *openAsk) bool { return a.run.owner() == c.ID })
	})
}

// allAsks yields the open questions of all owners that follow a question, oldest first.
func (x *index) allAsks(first *openAsk) iter.Seq[*openAsk] {
	return readPages(first, func(after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		return copyPage(x.byAsked.Ascend, x.byAsked.AscendGreaterOrEqual, after, after, compareAsked, nil)
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
	if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// compareOwnerAndAsked orders an owner's questions by when they were asked.
func compareOwnerAndAsked(a, b *openAsk) int {
	if c := strings.Compare(a.run.owner(), b.run.owner()); c != 0 {
		return c
	}
	return compareAsked(a, b)
}

// compareAsked orders questions by when they were asked.
func compareAsked(a, b *openAsk) int {
	if c := a.AskedAt.Compare(b.AskedAt); c != 0 {
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

// copyPage returns the items that follow the item after in a list, at most pageSize.
// walkAll iterates over the tree from its beginning; it is used if from is nil. walk
// iterates from that item, which needs not be in the tree any more. inList reports
// whether an item still belongs to the list; nil means that all do.
func copyPage[T any](walkAll func(btree.ItemIteratorG[*T]), walk func(*T, btree.ItemIteratorG[*T]), from, after *T, compare func(a, b *T) int, inList func(*T) bool) []*T {
	items := make([]*T, 0, pageSize)
	add := func(v *T) bool {
		if inList != nil && !inList(v) {
			return false
		}
		if after == nil || compare(v, after) != 0 {
			items = append(items, v)
		}
		return len(items) < pageSize
	}
	if from == nil {
		walkAll(add)
	} else {
		walk(from, add)
	}
	return items
}

// readPages yields the items of a list that follow an item, or all if first is nil. nextPage
// returns a page of the items that follow an item, or the first page if after is nil; it is
// empty at the end.
func readPages[T any](first *T, nextPage func(after *T) []*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for page := nextPage(first); len(page) > 0; page = nextPage(page[len(page)-1]) {
			for _, v := range page {
				if !yield(v) {
					return
				}
			}
		}
	}
}
