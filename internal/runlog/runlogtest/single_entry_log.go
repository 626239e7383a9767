package runlogtest

import (
	"context"
	"iter"

	"github.com/photon-beam/beam/internal/runlog"
)

// SingleEntryLog wraps a log and yields batches of one entry, as a log on a network
// may. Readers of logs must not rely on larger batches.
type SingleEntryLog struct{ runlog.Log }

var _ runlog.Log = SingleEntryLog{}

// Read implements [runlog.Log].
func (c SingleEntryLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return splitBatches(c.Log.Read(ctx, run, after))
}

// Follow implements [runlog.Log].
func (c SingleEntryLog) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return splitBatches(c.Log.Follow(ctx, run, after))
}

func splitBatches(batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if !yield(batch[i:i+1:i+1], nil) {
					return
				}
			}
		}
	}
}
