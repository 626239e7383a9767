package store

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// Lists are read in pages; each page is one query of an index, from a position on. An owner may
// be [Everyone].

// Run returns a run. The error is [runlog.ErrNotFound] or the database's.
func (s *Store) Run(ctx context.Context, id string) (*Run, error) {
	return s.oneRun(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.id = $1", toText(id))
}

// RunByKey returns the run that a caller has started with an idempotency key. The error is that
// of [Store.Run].
func (s *Store) RunByKey(ctx context.Context, caller, key string) (*Run, error) {
	return s.oneRun(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.idem = $1", idempotency(caller, key))
}

func (s *Store) oneRun(ctx context.Context, query string, args ...any) (*Run, error) {
	runs, err := s.listRuns(ctx, query, args...)
	if err == nil && len(runs) == 0 {
		err = runlog.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

func (s *Store) listRuns(ctx context.Context, query string, args ...any) ([]*Run, error) {
	var runs []*Run
	err := s.readers.query(ctx, query, args, func(row scanner) error {
		r, _, err := scanRun(row)
		runs = append(runs, r)
		return err
	})
	if err != nil {
		return nil, s.readError(err)
	}
	return runs, nil
}

// A RunPosition is a place in a list of runs: after the run that started then and has that id,
// and which need not exist any more. The zero value is the list's beginning.
type RunPosition struct {
	Started time.Time
	ID      string
}

// ListRuns returns the runs of an owner that follow a position, newest first.
func (s *Store) ListRuns(ctx context.Context, owner string, after RunPosition, limit int) ([]*Run, error) {
	started := int64(math.MaxInt64)
	if after.ID != "" {
		started = toNanos(after.Started)
	}
	const where = "r.started <= $1 AND (r.started < $1 OR r.id < $2)"
	const order = " ORDER BY r.started DESC, r.id DESC LIMIT $"
	if owner == Everyone {
		return s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE "+where+order+"3", started, toText(after.ID), limit)
	}
	return s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE "+where+" AND r.owner = $3"+order+"4", started, toText(after.ID), toText(owner), limit)
}

// Due returns the runs of which a question has expired or a sleep ended by a time, the first of
// them first.
func (s *Store) Due(ctx context.Context, by time.Time, limit int) ([]*Run, error) {
	return s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.due <= $1 ORDER BY r.due LIMIT $2", toNanos(by), limit)
}

// NextDue returns when the first question expires or the first sleep ends; zero for never.
func (s *Store) NextDue(ctx context.Context) (at time.Time, err error) {
	err = s.readers.query(ctx, "SELECT due FROM runs WHERE due IS NOT NULL ORDER BY due LIMIT 1", nil, func(row scanner) error {
		var due int64
		err := row.Scan(&due)
		at = time.Unix(0, due)
		return err
	})
	return at, s.readError(err)
}

// Queue returns the unfinished runs of a photon with a key of generators.Options.Exclusive:
// those that have begun, and then the others in the order in which they were started.
func (s *Store) Queue(ctx context.Context, photon, key string, limit int) ([]*Run, error) {
	return s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.photon = $1 AND r.exclusive = $2 AND r.ended IS NULL ORDER BY r.queued, r.num LIMIT $3", toText(photon), toText(key), limit)
}

// NeedingWorker yields the runs for which [Run.NeedsWorker] is true, in the order of their
// start.
func (s *Store) NeedingWorker(ctx context.Context) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		after := int64(0)
		pageRuns(yield, func() (runs []*Run, err error) {
			runs, err = s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.work = 1 AND r.num > $1 ORDER BY r.num LIMIT $2", after, pageRows)
			if len(runs) > 0 {
				after = runs[len(runs)-1].num
			}
			return runs, err
		})
	}
}

// EndedRuns yields the runs of an owner that have ended, those that ended first first.
func (s *Store) EndedRuns(ctx context.Context, owner string) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		const where = "r.ended >= $1 AND (r.ended > $1 OR r.num > $2)"
		const order = " ORDER BY r.ended, r.num LIMIT $"
		ended, num := int64(math.MinInt64), int64(0)
		pageRuns(yield, func() (runs []*Run, err error) {
			if owner == Everyone {
				runs, err = s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE "+where+order+"3", ended, num, pageRows)
			} else {
				runs, err = s.listRuns(ctx, "SELECT "+runColumns+" FROM runs r WHERE "+where+" AND r.owner = $3"+order+"4", ended, num, toText(owner), pageRows)
			}
			if len(runs) > 0 {
				last := runs[len(runs)-1]
				ended, num = toNanos(last.EndedAt), last.num
			}
			return runs, err
		})
	}
}

// pageRuns yields pages until one is empty.
func pageRuns(yield func(*Run, error) bool, next func() ([]*Run, error)) {
	for {
		runs, err := next()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, r := range runs {
			if !yield(r, nil) {
				return
			}
		}
		if len(runs) == 0 {
			return
		}
	}
}

// An OpenAsk is an open question of a run.
type OpenAsk struct {
	Run *Run
	*runstate.Ask
}

// Admits reports whether a caller may answer the question. usesRun means that the caller is
// the run's owner or an operator.
func (a *OpenAsk) Admits(c generators.Caller, usesRun bool) bool {
	return a.Audience.Admits(c, audience.Starter(a.Run.Start.StartedBy()), usesRun)
}

// An AskPosition is a place in a list of questions: after the question that was asked then and
// has that id, and which need not be open any more. The zero value is the list's beginning.
type AskPosition struct {
	Since time.Time
	ID    string
}

// Position returns the place after the question.
func (a *OpenAsk) Position() AskPosition {
	return AskPosition{a.AskedAt, runlog.AskID(a.Run.ID, a.Seq)}
}

// afterAsk is the condition of questions that follow a position, whose parameters are the
// first three.
const afterAsk = "asked >= $1 AND (asked > $1 OR run > COALESCE((SELECT num FROM runs WHERE id = $2), 0) OR run = COALESCE((SELECT num FROM runs WHERE id = $2), 0) AND seq > $3)"

func (p AskPosition) args() []any {
	run, seq, ok := runlog.SplitAskID(p.ID)
	if !ok {
		return []any{int64(math.MinInt64), "", 0}
	}
	return []any{toNanos(p.Since), toText(run), int64(seq)}
}

// ListAsks returns the open questions of an owner's runs that follow a position, oldest first.
func (s *Store) ListAsks(ctx context.Context, owner string, after AskPosition, limit int) ([]OpenAsk, error) {
	if owner == Everyone {
		return s.listAsks(ctx, selectAsks("asks", "", 4), 4, append(after.args(), limit))
	}
	return s.listAsks(ctx, selectAsks("asks", " AND owner = $4", 5), 5, append(after.args(), toText(owner), limit))
}

// ListRestricted returns the open questions of all that name who may answer, like ListAsks.
func (s *Store) ListRestricted(ctx context.Context, after AskPosition, limit int) ([]OpenAsk, error) {
	return s.listAsks(ctx, selectAsks("asks", " AND restricted = 1", 4), 4, append(after.args(), limit))
}

// ListAnswerable returns the open questions of the runs that a caller may use, whoever may
// answer them, and those that name the caller, of runs of others, like ListAsks.
func (s *Store) ListAnswerable(ctx context.Context, caller generators.Caller, after AskPosition, limit int) (all []OpenAsk, err error) {
	if caller.ID == "" {
		return nil, nil
	}
	if caller.HasRole(generators.RoleOperator) {
		return s.ListAsks(ctx, Everyone, after, limit)
	}
	args := append(after.args(), toText(caller.ID), limit)
	parts := []string{selectAsks("asks", " AND owner = $4", 5)}
	for _, name := range namesOf(caller) {
		args = append(args, name)
		parts = append(parts, selectAsks("audience", fmt.Sprintf(" AND who = $%d", len(args)), 5))
	}
	query := strings.Join(parts, " UNION ")
	for {
		page, err := s.listAsks(ctx, query, 5, args)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			if usesRun := a.Run.Owner() == caller.ID; usesRun || a.Admits(caller, false) {
				all = append(all, a)
			}
		}
		if len(page) < limit || len(all) >= limit {
			return all[:min(len(all), limit)], nil
		}
		copy(args, page[len(page)-1].Position().args())
	}
}

// selectAsks returns a query for the keys of questions in a table. limit is the number of the
// parameter with the limit.
func selectAsks(table, where string, limit int) string {
	return fmt.Sprintf("SELECT * FROM (SELECT asked, run, seq FROM %s WHERE %s%s ORDER BY asked, run, seq LIMIT $%d) AS page", table, afterAsk, where, limit)
}

// listAsks returns the questions that a query of their keys finds.
func (s *Store) listAsks(ctx context.Context, keys string, limit int, args []any) (asks []OpenAsk, err error) {
	query := fmt.Sprintf("SELECT k.seq, %s FROM (%s) AS k JOIN runs r ON r.num = k.run ORDER BY k.asked, k.run, k.seq LIMIT $%d", runColumns, keys, limit)
	err = s.readers.query(ctx, query, args, func(row scanner) error {
		var seq uint64
		r, _, err := scanRun(row, &seq)
		if err != nil {
			return err
		}
		a := r.FindAsk(seq)
		if a == nil {
			return fmt.Errorf("%w: the question %s is not open", runlog.ErrCorrupt, runlog.AskID(r.ID, seq))
		}
		asks = append(asks, OpenAsk{r, a})
		return nil
	})
	if err != nil {
		return nil, s.readError(err)
	}
	return slices.Clip(asks), nil
}
