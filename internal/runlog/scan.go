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

// A Scanner is a log that can be read as a whole faster than run by run.
type Scanner interface {
	// Scan yields all current entries of all runs. The entries of each run are
	// in order; runs may be interleaved.
	Scan(ctx context.Context) iter.Seq2[AppendedEntries, error]
}

// Scan yields all entries of a log, using its Scan method if it is a [Scanner]. Otherwise, the
// error of a run comes with its id, and other runs may follow.
func Scan(ctx context.Context, l Log) iter.Seq2[AppendedEntries, error] {
	if s, ok := l.(Scanner); ok {
		return s.Scan(ctx)
	}
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
