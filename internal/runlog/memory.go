package runlog

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is a log in the memory of the process.
type Memory struct {
	mu   sync.Mutex
	runs map[string]*Tail // with all entries
}

var _ Log = (*Memory)(nil)

// NewMemory returns an empty log.
func NewMemory() *Memory { return &Memory{runs: make(map[string]*Tail)} }

// Append implements [Log].
func (m *Memory) Append(_ context.Context, run string, after uint64, entries ...Entry) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	last := uint64(len(r.all()))
	switch {
	case r == nil && after > 0:
		return 0, ErrNotFound
	case last != after:
		return last, &ConflictError{Run: run, After: after, Last: last}
	case len(entries) == 0:
		return last, nil
	case r == nil:
		r = &Tail{}
		m.runs[run] = r
	}
	entries = Number(after, entries)
	for i := range entries {
		e := &entries[i]
		e.Time, e.Data, e.decoded = time.Unix(0, e.Time.UnixNano()), bytes.Clone(e.Data), nil // the caller may modify its slice
	}
	r.Add(entries)
	return last + uint64(len(entries)), nil
}

// find returns a run, or nil.
func (m *Memory) find(run string) *Tail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs[run]
}

// all returns the entries that are kept; none if t is nil.
func (t *Tail) all() []Entry {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries
}

// Read implements [Log].
func (m *Memory) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		all := m.find(run).all()
		for batch := range slices.Chunk(all[min(after, uint64(len(all))):], MaxBatchEntries) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// Follow implements [Log].
func (m *Memory) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		r := m.find(run)
		if r == nil {
			yield(nil, ErrNotFound)
			return
		}
		r.Follow(ctx, after, yield)
	}
}

// Runs implements [Log].
func (m *Memory) Runs(context.Context) iter.Seq2[string, error] {
	m.mu.Lock()
	ids := slices.Sorted(maps.Keys(m.runs))
	m.mu.Unlock()
	return func(yield func(string, error) bool) {
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// Sync implements [Log]. Nothing survives.
func (m *Memory) Sync(context.Context) error { return nil }

// Delete implements [Log].
func (m *Memory) Delete(_ context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.runs[run]; r != nil {
		r.End(nil)
		delete(m.runs, run)
	}
	return nil
}
