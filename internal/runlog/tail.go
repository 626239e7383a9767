package runlog

import (
	"context"
	"slices"
	"sync"
)

// A Tail has the latest entries of a run for those who follow it. Its methods may be called from
// several goroutines. The zero value has none.
type Tail struct {
	// MaxBytes is about how much memory the entries take; more replace earlier ones. Zero means
	// that all are kept.
	MaxBytes int

	mu        sync.Mutex
	entries   []Entry // only appended to, and replaced
	bytes     int
	elsewhere uint64 // the ordinal of an entry that isn't here, but in the log
	ended     bool
	err       error         // why it has ended; nil if the run was deleted
	changed   chan struct{} // closed by the next change; nil if nobody waits
}

// entryBytes is about how much memory an entry takes besides its data.
const entryBytes = 160

// Add adds the entries of an append. If others came before that aren't here, see Look, followers
// are behind.
func (t *Tail) Add(entries []Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := 0
	for _, e := range entries {
		size += entryBytes + len(e.Data)
	}
	n := len(t.entries)
	if t.bytes += size; t.MaxBytes > 0 && t.bytes > t.MaxBytes || n > 0 && t.entries[n-1].Seq+1 != entries[0].Seq {
		t.entries, t.bytes = nil, size
	}
	t.entries = append(t.entries, entries...)
	t.notify()
}

// Look tells those who follow the run that the log has entries up to an ordinal.
func (t *Tail) Look(last uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.elsewhere = max(t.elsewhere, last)
	t.notify()
}

// End ends those who follow the run, with an error unless it is nil.
func (t *Tail) End(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.err = true, err
	t.notify()
}

func (t *Tail) notify() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// Follow yields the entries after an ordinal, in batches, up to the one that ends the run. When
// the next one isn't kept any more, it returns the ordinal of the last, and that the caller is
// behind.
func (t *Tail) Follow(ctx context.Context, after uint64, yield func([]Entry, error) bool) (last uint64, behind bool) {
	for {
		batch, changed, err := t.next(after)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			yield(nil, err)
			return after, false
		case len(batch) > 0 && batch[0].Seq > after+1:
			return after, true
		case len(batch) > 0:
			if after = batch[len(batch)-1].Seq; !yield(batch, nil) {
				return after, false
			}
			continue
		case changed == nil && t.isElsewhere(after+1):
			return after, true
		case changed == nil:
			return after, false
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// isElsewhere reports whether the log has an entry that isn't here.
func (t *Tail) isElsewhere(seq uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.elsewhere >= seq
}

// next returns a batch of the entries after an ordinal, or of later ones if that isn't kept. If
// there are none, it returns a channel that the next change closes, or nil if none comes.
func (t *Tail) next(after uint64) (batch []Entry, changed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.entries)
	switch {
	case n > 0 && t.entries[n-1].Seq > after:
		from := int(max(after+1, t.entries[0].Seq) - t.entries[0].Seq)
		return slices.Clip(t.entries[from:min(n, from+MaxBatchEntries)]), nil, nil
	case t.elsewhere > after:
		return nil, nil, nil
	case t.ended || n > 0 && t.entries[n-1].Kind == KindFinished:
		return nil, nil, t.err
	case t.changed == nil:
		t.changed = make(chan struct{})
	}
	return nil, t.changed, nil
}
