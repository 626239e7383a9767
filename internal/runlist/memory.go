package runlist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// Memory keeps the rows of a log of any kind in memory. Most lists are made by looking at all
// rows: it is for tests, and for a process that stores nothing.
type Memory struct {
	runlog.Log
	loadData func(run string, e runlog.Entry) (runlog.Entry, error)

	mu     sync.RWMutex
	rows   map[string]*memoryRow
	next   int // the num of the next run
	counts map[string]Counts
	states map[runstate.State]int
}

// A memoryRow is a row, which is replaced when it changes, and how many runs there were before
// the run.
type memoryRow struct {
	Row
	num int
}

func (r *memoryRow) compareStart(o *memoryRow) int {
	return cmp.Or(r.StartedAt.Compare(o.StartedAt), cmp.Compare(r.num, o.num))
}

var _ Store = (*Memory)(nil)

// NewMemory returns a log with rows of the runs that are appended from now on; see
// [Memory.ReadAll]. loadData returns an entry with its data if that was too large for the log;
// it may be nil if there is none.
func NewMemory(l runlog.Log, loadData func(run string, e runlog.Entry) (runlog.Entry, error)) *Memory {
	if loadData == nil {
		loadData = func(_ string, e runlog.Entry) (runlog.Entry, error) { return e, nil }
	}
	return &Memory{Log: l, loadData: loadData, rows: make(map[string]*memoryRow), counts: make(map[string]Counts), states: make(map[runstate.State]int)}
}

// ReadAll makes the rows of the runs that the log has. It returns why there are none of the
// runs that can't be read.
func (m *Memory) ReadAll(ctx context.Context) (unreadable map[string]error, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	unreadable = make(map[string]error)
	for a, err := range runlog.Scan(ctx, m.Log) {
		if err != nil {
			return nil, err
		}
		if unreadable[a.Run] != nil {
			continue
		}
		err := checkStart(m.rows[a.Run], a.Entries)
		if err == nil {
			err = m.add(a.Run, a.Entries, true)
		}
		if err != nil {
			unreadable[a.Run] = err
			m.replace(m.rows[a.Run], nil)
		}
	}
	return unreadable, nil
}

// checkStart returns an error if the first entries of a run don't begin with its start.
func checkStart(row *memoryRow, entries []runlog.Entry) error {
	if row == nil && entries[0].Kind != runlog.KindStarted {
		return errors.New("its log does not begin with its start")
	}
	return nil
}

// add adds what entries that follow in the log mean to the row of a run. Unless strict is set,
// those that can't be read mean nothing. Callers hold mu.
func (m *Memory) add(run string, entries []runlog.Entry, strict bool) error {
	old, row := m.rows[run], &memoryRow{Row: Row{ID: run}}
	switch {
	case old != nil:
		row.num, row.Run = old.num, old.Run.Clone()
	default:
		row.num = m.next
		m.next++
	}
	for _, e := range entries {
		if e.Seq != row.Last+1 {
			return fmt.Errorf("%w: entry %d follows entry %d", runlog.ErrCorrupt, e.Seq, row.Last)
		}
		e, err := m.loadData(run, e)
		if err == nil {
			_, err = row.Apply(e)
		}
		if strict && err != nil && !errors.Is(err, runstate.ErrCannotFollow) {
			return err
		}
	}
	m.replace(old, row)
	return nil
}

// Append implements [runlog.Log].
func (m *Memory) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	entries = runlog.Number(after, entries) // so that the log and the row have the same times
	last, err := m.Log.Append(ctx, run, after, entries...)
	var conflict *runlog.ConflictError
	m.mu.Lock()
	defer m.mu.Unlock()
	switch row := m.rows[run]; {
	case errors.As(err, &conflict) || err == nil && row != nil && row.Last != after:
		return last, errors.Join(err, m.readMissed(ctx, run))
	case err == nil && len(entries) > 0:
		return last, m.add(run, entries, false)
	}
	return last, err
}

// readMissed reads what others have appended to a run. Callers hold mu.
func (m *Memory) readMissed(ctx context.Context, run string) error {
	var last uint64
	if row := m.rows[run]; row != nil {
		last = row.Last
	}
	for batch, err := range m.Log.Read(ctx, run, last) {
		if err == nil {
			err = m.add(run, batch, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete implements [runlog.Log].
func (m *Memory) Delete(ctx context.Context, run string) error {
	if err := m.Log.Delete(ctx, run); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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

// first returns the run that started first of those that match.
func (m *Memory) first(matches func(*Row) bool) *Row {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var first *memoryRow
	for _, r := range m.rows {
		if (first == nil || r.compareStart(first) < 0) && matches(&r.Row) {
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

// ForksOf implements [Rows].
func (m *Memory) ForksOf(_ context.Context, run string, after Position, limit int) ([]*Row, error) {
	return m.page(func(r *Row) (time.Time, bool) { return r.StartedAt, r.Start.Fork != nil && r.Start.Fork.Of == run }, oldestFirst, after, limit)
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

// CountUnfinished implements [Rows].
func (m *Memory) CountUnfinished(context.Context) (map[Holding]int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	counts := make(map[Holding]int)
	for _, r := range m.rows {
		if !r.State.Ended() {
			counts[Holding{r.Worker, r.Start.Photon}]++
		}
	}
	return counts, nil
}
