package logtest

import (
	"context"
	"iter"

	"github.com/photon-beam/beam/internal/log"
)

// Chunky is a log that reads another one in batches of one entry, as one that
// comes over a network may. What reads logs must not rely on larger ones.
type Chunky struct{ log.Log }

var _ log.Log = Chunky{}

// Read implements [log.Log].
func (c Chunky) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return singly(c.Log.Read(ctx, run, after))
}

// Follow implements [log.Log].
func (c Chunky) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return singly(c.Log.Follow(ctx, run, after))
}

func singly(batches iter.Seq2[[]log.Entry, error]) iter.Seq2[[]log.Entry, error] {
	return func(yield func([]log.Entry, error) bool) {
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
