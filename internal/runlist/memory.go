package runlist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// Memory is a log in the memory of the process, with the rows of its runs. Most lists are
// made by looking at all rows: it is for tests, and for a process that stores nothing.
type Memory struct {
	*runlog.Memory

	mu     sync.RWMutex // held while the log and the rows change
	rows   map[string]*memoryRow
	next   int // the num of the next run
	counts map[string]Counts
	states map[runstate.State]int
}

// A memoryRow is a row, which is replaced when it changes, and how many runs the log got
// before the run.
type memoryRow struct {
	Row
	num int
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty log.
func NewMemory() *Memory {
	return &Memory{Memory: runlog.NewMemory(), rows: make(map[string]*memoryRow), counts: make(map[string]Counts), states: make(map[runstate.State]int)}
}

// Append implements [runlog.Log]. Entries that can't follow are appended all the same, as far
// as possible.
func (m *Memory) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, err := m.Memory.Append(ctx, run, after, entries...)
	if err != nil || len(entries) == 0 {
		return last, err
	}
	old := m.rows[run]
	row := &memoryRow{Row: Row{ID: run}}
	if old == nil {
		row.num = m.next
		m.next++
	} else {
		row.num, row.Run = old.num, old.Run.Clone()
	}
	for i, e := range entries {
		e.Seq = after + uint64(i) + 1
		if e.Time.IsZero() {
			e.Time = time.Now()
		}
		_, _ = row.Apply(e) // whoever appends knows the entries that can follow
	}
	m.replace(old, row)
	return last, nil
}

// Delete implements [runlog.Log].
func (m *Memory) Delete(ctx context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.Memory.Delete(ctx, run); err != nil {
		return err
	}
	m.replace(m.rows[run], nil)
	return nil
}

// replace replaces a row by another one; nil stands for none. Callers hold mu.
func (m *Memory) replace(old, row *memoryRow) {
	if old != nil {
		m.count(&old.Run, -1)
		delete(m.rows, old.ID)
	}
	if row != nil {
		m.count(&row.Run, 1)
		m.rows[row.ID] = row
	}
}

// count adds n times what a run counts. Callers hold mu.
func (m *Memory) count(r *runstate.Run, n int) {
	m.states[r.State] += n
	for _, owner := range []string{r.Owner(), ""} {
		c := m.counts[owner]
		c.Runs += n
		c.Asks += n * len(r.Asks)
		if !r.State.Ended() {
			c.Unfinished += n
		}
		m.counts[owner] = c
		if c == (Counts{}) {
			delete(m.counts, owner)
		}
	}
}

// Row implements [Rows].
func (m *Memory) Row(_ context.Context, run string) (*Row, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if r := m.rows[run]; r != nil {
		return &r.Row, nil
	}
	return nil, runlog.ErrNotFound
}

// FindStarted implements [Rows].
func (m *Memory) FindStarted(_ context.Context, by, key string) (string, error) {
	first := m.first(func(r *Row) bool { return r.Start.IdempotencyKey == key && r.Start.Owner == by && key != "" })
	if first == nil {
		return "", nil
	}
	return first.ID, nil
}

// FirstOf implements [Rows].
func (m *Memory) FirstOf(_ context.Context, photon, key string) (*Row, error) {
	isOf := func(r *Row) bool {
		return r.Start.Photon == photon && r.Start.Exclusive == key && key != "" && !r.State.Ended()
	}
	if begun := m.first(func(r *Row) bool { return isOf(r) && !r.Queued }); begun != nil {
		return begun, nil
	}
	return m.first(isOf), nil
}

// first returns the first run that the log got of those that match.
func (m *Memory) first(matches func(*Row) bool) *Row {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var first *memoryRow
	for _, r := range m.rows {
		if (first == nil || r.num < first.num) && matches(&r.Row) {
			first = r
		}
	}
	if first == nil {
		return nil
	}
	return &first.Row
}

// RunsOf implements [Rows].
func (m *Memory) RunsOf(_ context.Context, owner string, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { return r.StartedAt, owner == "" || r.Owner() == owner }, newestFirst, after, limit)
}

// Unfinished implements [Rows].
func (m *Memory) Unfinished(_ context.Context, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { return r.StartedAt, !r.IsAtRest() }, oldestFirst, after, limit)
}

// Queued implements [Rows].
func (m *Memory) Queued(_ context.Context, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { return r.StartedAt, r.Queued && !r.State.Ended() }, oldestFirst, after, limit)
}

// Ended implements [Rows].
func (m *Memory) Ended(_ context.Context, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { return r.EndedAt, r.State.Ended() }, newestFirst, after, limit)
}

// Due implements [Rows].
func (m *Memory) Due(_ context.Context, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { due := r.Due(); return due, !due.IsZero() }, oldestFirst, after, limit)
}

// Orders of lists.
const (
	oldestFirst = 1
	newestFirst = -1
)

// Compare orders positions by their times, then by their ids.
func (p Position) Compare(q Position) int { return cmp.Or(p.At.Compare(q.At), cmp.Compare(p.ID, q.ID)) }

// page returns the rows that at lists, with the time by which they are ordered.
func (m *Memory) page(at func(*Row) (time.Time, bool), order int, after Position, limit int) ([]*Row, error) {
	m.mu.RLock()
	var listed []placed[*Row]
	for _, r := range m.rows {
		if t, ok := at(&r.Row); ok {
			listed = append(listed, placed[*Row]{Position{t, r.ID}, &r.Row})
		}
	}
	m.mu.RUnlock()
	return takePage(listed, order, after, limit), nil
}

// placed is an item of a list and its place there.
type placed[T any] struct {
	Position
	item T
}

// takePage returns the items of a list that follow a position.
func takePage[T any](list []placed[T], order int, after Position, limit int) []T {
	if !after.IsZero() {
		list = slices.DeleteFunc(list, func(p placed[T]) bool { return order*p.Compare(after) <= 0 })
	}
	slices.SortFunc(list, func(a, b placed[T]) int { return order * a.Compare(b.Position) })
	var page []T
	for _, p := range list[:min(len(list), limit)] {
		page = append(page, p.item)
	}
	return page
}

// Asks implements [Rows].
func (m *Memory) Asks(_ context.Context, f AskFilter, after Position, limit int) ([]Ask, error) {
	m.mu.RLock()
	var listed []placed[Ask]
	for _, r := range m.rows {
		for _, a := range r.Asks {
			if f.selects(&r.Row, a) {
				ask := Ask{a, &r.Row}
				listed = append(listed, placed[Ask]{Position{a.AskedAt, ask.ID()}, ask})
			}
		}
	}
	m.mu.RUnlock()
	return takePage(listed, oldestFirst, after, limit), nil
}

// selects reports whether the filter selects a question.
func (f AskFilter) selects(r *Row, a *runstate.Ask) bool {
	if f.Restricted && a.Audience == nil || f.Called && a.Call == 0 {
		return false
	}
	return f.Owner == "" || r.Owner() == f.Owner || a.Audience != nil && hasAny(a.Audience, f.Names)
}

func hasAny(a *audience.Audience, names []string) bool {
	return slices.ContainsFunc(a.Names(), func(name string) bool { return slices.Contains(names, name) })
}

// CountRuns implements [Rows].
func (m *Memory) CountRuns(context.Context) (map[runstate.State]int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return maps.Clone(m.states), nil
}

// CountOf implements [Rows].
func (m *Memory) CountOf(_ context.Context, owner string) (Counts, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.counts[owner], nil
}

// CountAsks implements [Rows].
func (m *Memory) CountAsks(_ context.Context, until time.Time) (n int, _ error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, r := range m.rows {
		for _, a := range r.Asks {
			if !a.AskedAt.After(until) {
				n++
			}
		}
	}
	return n, nil
}

// CountPhotons implements [Rows].
func (m *Memory) CountPhotons(context.Context) (map[string]int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	counts := make(map[string]int)
	for _, r := range m.rows {
		if !r.State.Ended() {
			counts[r.Start.Photon]++
		}
	}
	return counts, nil
}
