package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// lists are the rows of runs. Each page of a list is one query of an index, from a position on.
type lists struct{ *reader }

var (
	_ runlist.Rows  = lists{}
	_ runlist.Store = (*Store)(nil)
)

// Row implements [runlist.Rows].
func (l lists) Row(ctx context.Context, run string) (*runlist.Row, error) {
	return l.oneRun(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.id = $1", toText(run))
}

// FindStarted implements [runlist.Rows].
func (l lists) FindStarted(ctx context.Context, by, key string) (run string, err error) {
	err = l.query(ctx, selectByIdempotency, func(row scanner) error { return row.Scan(&run) }, idempotency(by, key))
	return fromText(run), err
}

const selectByIdempotency = "SELECT id FROM runs WHERE idem = $1"

// FirstOf implements [runlist.Rows].
func (l lists) FirstOf(ctx context.Context, photon, key string) (*runlist.Row, error) {
	row, err := l.oneRun(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.photon = $1 AND r.exclusive = $2 AND r.ended IS NULL ORDER BY r.queued, r.num LIMIT 1", toText(photon), toText(key))
	if errors.Is(err, runlog.ErrNotFound) {
		return nil, nil
	}
	return row, err
}

func (l lists) oneRun(ctx context.Context, query string, args ...any) (found *runlist.Row, err error) {
	err = l.queryOne(ctx, query, func(row scanner) error {
		r, _, err := scanRun(row)
		if err == nil {
			found = &r.Row
		}
		return err
	}, args...)
	return found, err
}

func (l lists) listRuns(ctx context.Context, query string, args ...any) (rows []*runlist.Row, err error) {
	err = l.query(ctx, query, func(row scanner) error {
		r, _, err := scanRun(row)
		if err == nil {
			rows = append(rows, &r.Row)
		}
		return err
	}, args...)
	return rows, err
}

// RunsOf implements [runlist.Rows].
func (l lists) RunsOf(ctx context.Context, owner string, after runlist.Position, limit int) ([]*runlist.Row, error) {
	if owner == "" {
		return l.pageRuns(ctx, newestFirst, "r.started", "", after, limit)
	}
	return l.pageRuns(ctx, newestFirst, "r.started", " AND r.owner = $3", after, limit, toText(owner))
}

// Unfinished implements [runlist.Rows].
func (l lists) Unfinished(ctx context.Context, after runlist.Position, limit int) ([]*runlist.Row, error) {
	return l.pageRuns(ctx, oldestFirst, "r.started", " AND r.work = 1", after, limit)
}

// Queued implements [runlist.Rows].
func (l lists) Queued(ctx context.Context, after runlist.Position, limit int) ([]*runlist.Row, error) {
	return l.pageRuns(ctx, oldestFirst, "r.started", " AND r.queued = 1 AND r.ended IS NULL", after, limit)
}

// ForksOf implements [runlist.Rows].
func (l lists) ForksOf(ctx context.Context, run string, after runlist.Position, limit int) ([]*runlist.Row, error) {
	return l.pageRuns(ctx, oldestFirst, "r.started", " AND r.forked = $3", after, limit, toText(run))
}

// Ended implements [runlist.Rows].
func (l lists) Ended(ctx context.Context, after runlist.Position, limit int) ([]*runlist.Row, error) {
	return l.pageRuns(ctx, newestFirst, "r.ended", "", after, limit)
}

// Due implements [runlist.Rows].
func (l lists) Due(ctx context.Context, after runlist.Position, limit int) ([]*runlist.Row, error) {
	return l.pageRuns(ctx, oldestFirst, "r.due", "", after, limit)
}

// An order is that of a list.
type order struct {
	compare, direction string
	beginning          int64
}

var (
	oldestFirst = order{">", "", math.MinInt64}
	newestFirst = order{"<", " DESC", math.MaxInt64}
)

// pageRuns returns a page of the runs that a condition selects, in the order of a column, from a
// position on. The parameters of the condition follow the first two.
func (l lists) pageRuns(ctx context.Context, o order, column, where string, after runlist.Position, limit int, args ...any) ([]*runlist.Row, error) {
	at := o.beginning
	if !after.IsZero() {
		at = toNanos(after.At)
	}
	query := fmt.Sprintf("SELECT %s FROM runs r WHERE %s %s= $1 AND (%s %s $1 OR r.id %s $2)%s ORDER BY %s%s, r.id%s LIMIT $%d",
		runColumns, column, o.compare, column, o.compare, o.compare, where, column, o.direction, o.direction, 3+len(args))
	return l.listRuns(ctx, query, slices.Concat([]any{at, toText(after.ID)}, args, []any{limit})...)
}

// Asks implements [runlist.Rows].
func (l lists) Asks(ctx context.Context, f runlist.AskFilter, after runlist.Position, limit int) ([]runlist.Ask, error) {
	args, where := afterArgs(after), ""
	if f.Restricted {
		where = " AND restricted = 1"
	}
	if f.Called {
		where += " AND called = 1"
	}
	if f.Owner == "" {
		return l.listAsks(ctx, selectAsks("asks", where, 4), 4, append(args, limit))
	}
	args = append(args, toText(f.Owner), limit)
	parts := []string{selectAsks("asks", where+" AND owner = $4", 5)}
	for _, name := range f.Names {
		args = append(args, toText(name))
		parts = append(parts, selectAsks("audience", fmt.Sprintf(" AND who = $%d", len(args)), 5))
	}
	return l.listAsks(ctx, strings.Join(parts, " UNION "), 5, args)
}

// afterAsk is the condition of questions that follow a position, whose parameters are the
// first three.
const afterAsk = "asked >= $1 AND (asked > $1 OR run > COALESCE((SELECT num FROM runs WHERE id = $2), 0) OR run = COALESCE((SELECT num FROM runs WHERE id = $2), 0) AND seq > $3)"

func afterArgs(p runlist.Position) []any {
	run, seq, ok := runlog.SplitAskID(p.ID)
	if !ok {
		return []any{int64(math.MinInt64), "", 0}
	}
	return []any{toNanos(p.At), toText(run), int64(seq)}
}

// selectAsks returns a query for the keys of questions in a table. limit is the number of the
// parameter with the limit.
func selectAsks(table, where string, limit int) string {
	return fmt.Sprintf("SELECT * FROM (SELECT asked, run, seq FROM %s WHERE %s%s ORDER BY asked, run, seq LIMIT $%d) AS page", table, afterAsk, where, limit)
}

// listAsks returns the questions that a query of their keys finds.
func (l lists) listAsks(ctx context.Context, keys string, limit int, args []any) (asks []runlist.Ask, err error) {
	query := fmt.Sprintf("SELECT k.seq, %s FROM (%s) AS k JOIN runs r ON r.num = k.run ORDER BY k.asked, k.run, k.seq LIMIT $%d", runColumns, keys, limit)
	err = l.query(ctx, query, func(row scanner) error {
		var seq uint64
		r, _, err := scanRun(row, &seq)
		if err != nil {
			return err
		}
		a := r.FindAsk(seq)
		if a == nil {
			return fmt.Errorf("%w: the question %s is not open", runlog.ErrCorrupt, runlog.AskID(r.ID, seq))
		}
		asks = append(asks, runlist.Ask{Ask: a, Run: &r.Row})
		return nil
	}, args...)
	return slices.Clip(asks), err
}

// CountAsks implements [runlist.Rows].
func (l lists) CountAsks(ctx context.Context, until time.Time) (n int, err error) {
	err = l.query(ctx, "SELECT count(*) FROM asks WHERE asked <= $1", func(row scanner) error { return row.Scan(&n) }, toNanos(until))
	return n, err
}

// CountRuns implements [runlist.Rows].
func (l lists) CountRuns(ctx context.Context) (map[runstate.State]int, error) {
	c, err := l.readCounts(ctx, "")
	runs := make(map[runstate.State]int)
	for _, state := range runstate.States {
		runs[state] = int(c[stateIndex(state)])
	}
	return runs, err
}

// CountOf implements [runlist.Rows].
func (l lists) CountOf(ctx context.Context, owner string) (runlist.Counts, error) {
	c, err := l.readCounts(ctx, owner)
	n := runlist.Counts{Asks: int(c[0]), Runs: int(c[1]), Unfinished: int(c[1])}
	for _, state := range runstate.States {
		in := int(c[stateIndex(state)])
		if n.Runs += in; !state.Ended() {
			n.Unfinished += in
		}
	}
	return n, err
}

// readCounts returns the counts of an owner, or of all if owner is empty. They are kept, not
// counted.
func (l lists) readCounts(ctx context.Context, owner string) (c counts, err error) {
	if owner = toText(owner); owner == "" {
		owner = everyone
	}
	query := "SELECT " + strings.Join(countColumns, ", ") + " FROM counts WHERE owner = $1"
	err = l.query(ctx, query, func(row scanner) error { return row.Scan(c.dest()...) }, owner)
	return c, err
}

// CountUnfinished implements [runlist.Rows].
func (l lists) CountUnfinished(ctx context.Context) (map[runlist.Holding]int, error) {
	counts := make(map[runlist.Holding]int)
	err := l.query(ctx, "SELECT worker, photon, runs FROM unfinished WHERE runs > 0", func(row scanner) error {
		var worker, photon string
		var n int
		err := row.Scan(&worker, &photon, &n)
		counts[runlist.Holding{Worker: fromText(worker), Photon: fromText(photon)}] = n
		return err
	})
	return counts, err
}
