package runlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a log in the memory of the process.
type Memory struct {
	mu   sync.RWMutex
	runs map[string]*memoryRun
}

var _ Log = (*Memory)(nil)

// memoryRun holds one run's entries. They are only appended to, so a slice of them
// may be read without the lock.
type memoryRun struct {
	mu      sync.Mutex
	entries []storedEntry
	deleted bool
	changed chan struct{} // closed by the next change; nil if no follower waits
}

// storedEntry is the compact form of an entry, half as large. Its index in the run
// implies its ordinal.
type storedEntry struct {
	unixNano int64
	kind     Kind
	data     json.RawMessage // the digest, if isBlob
	isBlob   bool
	origin   *origin // nil if the entry names no goroutine and no step
}

type origin struct{ goroutine, step string }

func newStoredEntry(e Entry) storedEntry {
	var from *origin
	if e.Goroutine != "" || e.Step != "" {
		from = &origin{e.Goroutine, e.Step}
	}
	if e.Blob != "" {
		return storedEntry{e.Time.UnixNano(), e.Kind, json.RawMessage(e.Blob), true, from}
	}
	return storedEntry{e.Time.UnixNano(), e.Kind, bytes.Clone(e.Data), false, from} // the caller may modify its slice
}

func (s *storedEntry) entry(seq uint64) Entry {
	e := Entry{Seq: seq, Time: time.Unix(0, s.unixNano), Kind: s.kind}
	if s.origin != nil {
		e.Goroutine, e.Step = s.origin.goroutine, s.origin.step
	}
	if s.isBlob {
		e.Blob = string(s.data)
	} else {
		e.Data = s.data
	}
	return e
}

// toEntries returns part as entries, the first of which follows the ordinal after.
func toEntries(after uint64, part []storedEntry) []Entry {
	entries := make([]Entry, len(part))
	for i := range part {
		entries[i] = part[i].entry(after + 1 + uint64(i))
	}
	return entries
}

// NewMemory returns an empty log.
func NewMemory() *Memory { return &Memory{runs: make(map[string]*memoryRun)} }

// Append implements [Log].
func (m *Memory) Append(_ context.Context, run string, after uint64, entries ...Entry) (uint64, error) {
	for {
		r := m.findRun(run, after == 0 && len(entries) > 0)
		if r == nil && after == 0 {
			return 0, nil // no entries appended to no run
		}
		if r == nil {
			return 0, ErrNotFound
		}
		last, err := r.appendEntries(run, after, entries)
		if after != 0 || !errors.Is(err, ErrNotFound) {
			return last, err
		}
		// The run was deleted meanwhile, so it may start again.
	}
}

func (r *memoryRun) appendEntries(run string, after uint64, entries []Entry) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := uint64(len(r.entries))
	if r.deleted {
		return 0, ErrNotFound
	}
	if last != after {
		return last, &ConflictError{Run: run, After: after, Last: last}
	}
	now := time.Now()
	r.reserve(len(entries))
	for _, e := range entries {
		if e.Time.IsZero() {
			e.Time = now
		}
		r.entries = append(r.entries, newStoredEntry(e))
	}
	r.notifyFollowers()
	return last + uint64(len(entries)), nil
}

// maxExactCap is the number of entries up to which a run's slice grows by exactly
// as much as it must: many runs wait for their first answer, with three entries.
const maxExactCap = 4

func (r *memoryRun) reserve(n int) {
	if size := len(r.entries) + n; size > cap(r.entries) && size <= maxExactCap {
		r.entries = append(make([]storedEntry, 0, size), r.entries...)
	}
}

// findRun returns a run, or nil. If create is true, it creates a run that doesn't
// exist.
func (m *Memory) findRun(id string, create bool) *memoryRun {
	m.mu.RLock()
	r := m.runs[id]
	m.mu.RUnlock()
	if r != nil || !create {
		return r
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r = m.runs[id]; r == nil {
		r = &memoryRun{}
		m.runs[id] = r
	}
	return r
}

// snapshot returns the current entries.
func (r *memoryRun) snapshot() []storedEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries
}

func (r *memoryRun) notifyFollowers() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// nextEntries returns a batch of the entries after an ordinal. If there are none,
// it returns a channel that the next change closes; more is false if no change
// can come.
func (r *memoryRun) nextEntries(after uint64) (part []storedEntry, changed <-chan struct{}, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := uint64(len(r.entries))
	if after < n {
		end := min(n, after+MaxBatchEntries)
		return r.entries[after:end:end], nil, true
	}
	if r.deleted || n > 0 && r.entries[n-1].kind == KindFinished {
		return nil, nil, false
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return nil, r.changed, true
}

// Read implements [Log].
func (m *Memory) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		r := m.findRun(run, false)
		if r == nil {
			return
		}
		now := r.snapshot()
		for after < uint64(len(now)) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			end := min(uint64(len(now)), after+MaxBatchEntries)
			if !yield(toEntries(after, now[after:end]), nil) {
				return
			}
			after = end
		}
	}
}

// Follow implements [Log].
func (m *Memory) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		r := m.findRun(run, false)
		if r == nil {
			yield(nil, ErrNotFound)
			return
		}
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			part, changed, more := r.nextEntries(after)
			switch {
			case !more:
				return
			case len(part) > 0:
				if !yield(toEntries(after, part), nil) {
					return
				}
				after += uint64(len(part))
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// Runs implements [Log].
func (m *Memory) Runs(context.Context) iter.Seq2[string, error] {
	m.mu.RLock()
	ids := make([]string, 0, len(m.runs))
	for id := range m.runs {
		ids = append(ids, id)
	}
	m.mu.RUnlock()
	slices.Sort(ids)
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
	r := m.runs[run]
	delete(m.runs, run)
	m.mu.Unlock()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleted = true
	r.notifyFollowers()
	return nil
}
