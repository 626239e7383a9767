package engine

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

// eachRow yields the rows of a list, page by page. at returns the time by which the list is
// ordered.
func eachRow(list func(context.Context, runlist.Position, int) ([]*runlist.Row, error), at func(*runlist.Row) time.Time) iter.Seq2[*runlist.Row, error] {
	return rowsAfter(list, at, runlist.Position{})
}

// rowsAfter is eachRow from a position on.
func rowsAfter(list func(context.Context, runlist.Position, int) ([]*runlist.Row, error), at func(*runlist.Row) time.Time, after runlist.Position) iter.Seq2[*runlist.Row, error] {
	return eachPage(list, func(r *runlist.Row) runlist.Position { return runlist.Position{At: at(r), ID: r.ID} }, after)
}

// eachPage yields the items of a list that follow a position, page by page. The error ends
// them.
func eachPage[T any](list func(context.Context, runlist.Position, int) ([]T, error), position func(T) runlist.Position, after runlist.Position) iter.Seq2[T, error] {
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

// startOf and endOf are the times by which lists of runs are ordered.
func startOf(r *runlist.Row) time.Time { return r.StartedAt }
func endOf(r *runlist.Row) time.Time   { return r.EndedAt }
