// Package pages reads lists of rows page by page.
package pages

import (
	"context"
	"iter"
	"time"

	"github.com/photon-beam/beam/internal/runlist"
)

// How many rows are read at once: few at first, since many lists are short.
const (
	firstPageSize = 8
	pageSize      = 64
)

// Each yields the rows of a list. at returns the time by which the list is ordered. An error ends
// them.
func Each(list func(context.Context, runlist.Position, int) ([]*runlist.Row, error), at func(*runlist.Row) time.Time) iter.Seq2[*runlist.Row, error] {
	return After(list, at, runlist.Position{})
}

// After is Each from a position on.
func After(list func(context.Context, runlist.Position, int) ([]*runlist.Row, error), at func(*runlist.Row) time.Time, after runlist.Position) iter.Seq2[*runlist.Row, error] {
	return Items(list, func(r *runlist.Row) runlist.Position { return runlist.Position{At: at(r), ID: r.ID} }, after)
}

// Items yields the items of any list that follow a position. An error ends them.
func Items[T any](list func(context.Context, runlist.Position, int) ([]T, error), position func(T) runlist.Position, after runlist.Position) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for size := firstPageSize; ; size = min(2*size, pageSize) {
			page, err := list(context.Background(), after, size)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
				after = position(item)
			}
			if len(page) < size {
				return
			}
		}
	}
}

// StartOf and EndOf are the times by which lists of runs are ordered.
func StartOf(r *runlist.Row) time.Time { return r.StartedAt }
func EndOf(r *runlist.Row) time.Time   { return r.EndedAt }
