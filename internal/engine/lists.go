package engine

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Position is a place in a list of runs, which are ordered by their starts, or of questions;
// see [runlist.Position]. The zero value is the list's beginning.
type Position = runlist.Position

// Position returns the place after a run.
func (i *Info) Position() Position { return Position{At: i.Started, ID: i.ID} }

// Position returns the place after a question.
func (o *OpenAsk) Position() Position { return Position{At: o.Since, ID: o.ID} }

// lists list runs and open questions, from their rows. The methods may be called from several
// goroutines.
type lists struct {
	*core
	unanswerable *unanswerableAsks
}

// RunsAfter yields the runs that the caller may use, newest first, from a position on. They
// are without Asks, so that none of their logs is read. Runs that start meanwhile aren't
// among them. An error ends them.
func (l lists) RunsAfter(caller generators.Caller, after Position) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for row, err := range l.rowsOf(caller, after) {
			if err != nil {
				yield(Info{}, err)
				return
			}
			if info, listed := l.listRun(row); listed && !yield(info, nil) {
				return
			}
		}
	}
}

// rowsOf yields the rows of the runs that a caller may use, newest first, from a position on.
func (l lists) rowsOf(c generators.Caller, after Position) iter.Seq2[*runlist.Row, error] {
	if c.ID == "" {
		return func(func(*runlist.Row, error) bool) {}
	}
	return pages.After(func(ctx context.Context, after Position, limit int) ([]*runlist.Row, error) {
		return l.rows.RunsOf(ctx, ownedBy(c), after, limit)
	}, pages.StartOf, after)
}

// listRun returns a run as lists show it, without its questions. It reports false for a run
// whose start was refused.
func (l lists) listRun(row *runlist.Row) (info Info, listed bool) {
	r := l.checkListed(row)
	if r == nil {
		return l.describe(row.ID, &row.Run), true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info(), !r.startRefused && r.Last > 0
}

// Runs returns the runs that the caller may use, newest first: at most limit (0 means all) of
// those for which keep returns true (nil means all). keep is called without
// Asks, which may have to be read from the log.
func (l lists) Runs(caller generators.Caller, limit int, keep func(Info) bool) ([]Info, error) {
	var infos []Info
	for row, err := range l.rowsOf(caller, Position{}) {
		if err != nil {
			return nil, err
		}
		info, listed := l.listRun(row)
		if !listed || keep != nil && !keep(info) {
			continue
		}
		for _, a := range row.Asks {
			o, open, err := l.listAsk(runlist.Ask{Ask: a, Run: row}, caller)
			if err != nil {
				return nil, err
			}
			if open {
				info.Asks = append(info.Asks, o)
			}
		}
		infos = append(infos, info)
		if limit > 0 && len(infos) == limit {
			break
		}
	}
	return infos, nil
}

// UnfinishedRuns yields the durable runs that have not ended. A run that can't be read is logged and
// left out; another error ends them. secrets says whether they have the contents of secret answers.
func (l lists) UnfinishedRuns(ctx context.Context, secrets bool) iter.Seq2[rehearsal.UnfinishedRun, error] {
	all := func(ctx context.Context, after Position, limit int) ([]*runlist.Row, error) {
		return l.rows.RunsOf(ctx, "", after, limit)
	}
	return func(yield func(rehearsal.UnfinishedRun, error) bool) {
		for row, err := range pages.Each(all, pages.StartOf) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(rehearsal.UnfinishedRun{}, err)
				return
			}
			if row.State.Ended() || !row.Start.Durable {
				continue
			}
			run, err := l.readUnfinished(ctx, row.ID, secrets)
			if err != nil {
				l.logger.Warn("a run can't be rehearsed", "run", row.ID, "err", err)
			} else if !yield(run, nil) {
				return
			}
		}
	}
}

func (l lists) readUnfinished(ctx context.Context, id string, secrets bool) (rehearsal.UnfinishedRun, error) {
	run := rehearsal.UnfinishedRun{ID: id}
	sealed := runSecrets{run: id, keys: l.keys}
	for batch, err := range l.files.Read(ctx, id, 0) {
		if err != nil {
			return run, err
		}
		run.Entries = append(run.Entries, batch...)
		for _, e := range batch {
			if !secrets || e.Kind != runlog.KindAnswered {
				continue
			}
			if a, err := runlog.Decode[runlog.Answered](e); err == nil && a.Sealed != nil && sealed.unseal(&a) == nil {
				if run.Secrets == nil {
					run.Secrets = make(map[uint64]json.RawMessage)
				}
				run.Secrets[a.AskSeq] = a.Answer.Content
			}
		}
	}
	return run, nil
}

// Watch yields once immediately and then after every change of the callers' lists,
// until ctx ends. Changes during the loop's body count as one.
func (l lists) Watch(ctx context.Context, callers ...generators.Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, remove := l.watchers.Add(callers, ownedBy)
		defer remove()
		for yield(struct{}{}) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Counts are the numbers that [Engine.Counts] returns.
type Counts struct {
	Runs      map[State]int // those that the log has, including ended ones
	Resident  int           // durable runs that wait in memory and could be evicted
	Followers int           // of runs: streams, pages and calls
}

// Counts returns the current numbers. The error is that of reading rows.
func (l lists) Counts() (Counts, error) {
	counts, err := l.rows.CountRuns(context.Background())
	c := Counts{
		Runs:      make(map[State]int, len(States)),
		Followers: int(l.followers.Load()),
		Resident:  l.evictor.Count(),
	}
	for _, s := range States {
		c.Runs[s] = counts[s]
	}
	return c, err
}
