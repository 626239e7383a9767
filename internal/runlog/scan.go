package runlog

import (
	"context"
	"iter"
)

// AppendedEntries holds the entries that one append added to a run.
type AppendedEntries struct {
	Run     string
	Entries []Entry
}

// Scan yields all entries of a log. The error of a run comes with its id, and other runs may
// follow.
func Scan(ctx context.Context, l Log) iter.Seq2[AppendedEntries, error] {
	return func(yield func(AppendedEntries, error) bool) {
		for run, err := range l.Runs(ctx) {
			if err != nil {
				yield(AppendedEntries{}, err)
				return
			}
			for batch, err := range l.Read(ctx, run, 0) {
				if !yield(AppendedEntries{run, batch}, err) {
					return
				}
				if err != nil {
					break
				}
			}
		}
	}
}
