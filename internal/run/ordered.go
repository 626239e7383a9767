package run

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Lists are kept in order as they change, so that a page of one costs no more
// the longer the list is. What is new comes last, nearly always.

// byBirth orders runs by their start.
func byBirth(a, b *record) int {
	return cmp.Or(a.born.Compare(b.born), strings.Compare(a.id, b.id))
}

// asking is an open question and its run.
type asking struct {
	*record
	ask *openAsk
}

// bySince orders questions by when they were asked.
func bySince(a, b asking) int {
	return cmp.Or(a.ask.since.Compare(b.ask.since), strings.Compare(a.id, b.id), cmp.Compare(a.ask.seq, b.ask.seq))
}

func insert[T any](list []T, v T, compare func(a, b T) int) []T {
	at := len(list)
	if at > 0 && compare(list[at-1], v) > 0 {
		at, _ = slices.BinarySearchFunc(list, v, compare)
	}
	return slices.Insert(list, at, v)
}

func remove[T any](list []T, v T, compare func(a, b T) int) []T {
	if at, found := slices.BinarySearchFunc(list, v, compare); found {
		return slices.Delete(list, at, at+1)
	}
	return list
}

// step is how much of a list is copied at once: nobody holds the index's lock
// while a list is read.
const step = 64

// merged yields what several lists have, in order. more returns what follows a
// value in one of them, or its beginning after nil, at most step of it.
func merged[T any](lists int, compare func(a, b T) int, more func(list int, after *T) []T) iter.Seq[T] {
	return func(yield func(T) bool) {
		heads := make([][]T, lists)
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
				heads[first] = more(first, &v)
			}
		}
	}
}

// following copies what comes after a value in an ordered list.
func following[T any](list []T, after *T, compare func(a, b T) int) []T {
	from := 0
	if after != nil {
		at, found := slices.BinarySearchFunc(list, *after, compare)
		if from = at; found {
			from++
		}
	}
	return slices.Clone(list[from:min(from+step, len(list))])
}

// preceding copies what comes before a value, last first.
func preceding[T any](list []T, before *T, compare func(a, b T) int) []T {
	to := len(list)
	if before != nil {
		to, _ = slices.BinarySearchFunc(list, *before, compare)
	}
	page := slices.Clone(list[max(0, to-step):to])
	slices.Reverse(page)
	return page
}
