package runlog

import (
	"context"
	"iter"
)

// AppendedEntries is what one append added to a run.
type AppendedEntries struct {
	Run     string
	Entries []Entry
}

// A Scanner is a log that is faster to read as a whole than run by run.
type Scanner interface {
	// Scan yields everything that is there now. The entries of a run come in
	// order, those of different runs in any.
	Scan(ctx context.Context) iter.Seq2[AppendedEntries, error]
}

// Scan reads a whole log, in the way that it is best read.
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
				if !yield(AppendedEntries{run, batch}, err) || err != nil {
					return
				}
			}
		}
	}
}
