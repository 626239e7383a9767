package webhook

import (
	"context"
	"sync"

	"github.com/photon-beam/beam/internal/smallstate"
)

// RecordBucket has a value for each question that was told; its key is the question's id.
const RecordBucket = "webhook"

// A record has the questions that were told in a bucket, and those that soon will be in memory. Of
// those that are settled, it keeps about as many as are open, or [minOld] if that is more.
type record struct {
	told smallstate.Bucket

	mu    sync.Mutex
	soon  map[string]bool
	count int // of those that were told, about
	sweep int // from this many on, those that are settled are to be forgotten
}

// minOld is how many questions a record has before any is forgotten.
const minOld = 1_000

func openRecord(ctx context.Context, s smallstate.Store) (*record, error) {
	r := &record{told: smallstate.Bucket{Store: s, Name: RecordBucket}, soon: make(map[string]bool), sweep: minOld}
	for _, err := range r.told.All(ctx) {
		if err != nil {
			return nil, err
		}
		r.count++
	}
	return r, nil
}

// has reports whether a question was told, as far as that is known, or soon will be.
func (r *record) has(ctx context.Context, askID string) bool {
	r.mu.Lock()
	soon := r.soon[askID]
	r.mu.Unlock()
	if soon {
		return true
	}
	v, _ := r.told.Get(ctx, askID) // write says it again
	return v != nil
}

// add notes that a question soon will be told, and reports whether that is new.
func (r *record) add(askID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.soon[askID] {
		return false
	}
	r.soon[askID] = true
	return true
}

// drop takes back what add has noted.
func (r *record) drop(askID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.soon, askID)
}

// write records that a question is told. It reports whether it wasn't told before, and whether it
// is time to forget some.
func (r *record) write(ctx context.Context, askID string) (first, full bool, err error) {
	if first, err = r.told.Add(ctx, askID, []byte{1}); !first {
		return false, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; r.count < r.sweep {
		return true, false, nil
	}
	r.sweep = 2 * r.count // not again until forget says when
	return true, true, nil
}

// forget forgets the questions that are settled.
func (r *record) forget(ctx context.Context, isSettled func(context.Context, string) bool) error {
	kept := 0
	err := r.told.DeleteIf(ctx, func(v smallstate.Value) bool {
		settled := isSettled(ctx, v.Key)
		if !settled {
			kept++
		}
		return settled
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.count, r.sweep = kept, max(minOld, 2*kept)
	}
	return err
}
