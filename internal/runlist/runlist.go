// Package runlist defines the rows of runs and of their open questions: what lists,
// deadlines and claims need to know, so that nobody has to read a log, or to hold all runs in
// memory.
//
// A run's row is what its entries have led to; see package runstate. Whoever stores a log
// changes the row together with the log. [Memory] does so in memory, and package store in a
// database. Package runlisttest holds the suite that both pass.
package runlist

import (
	"cmp"
	"context"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A Store is a log with the rows of its runs.
type Store interface {
	runlog.Log
	Rows
}

// Rows are the rows of all runs in a log. Each is as new as the log. The methods may be called
// from several goroutines; the caller must not modify what they return. Those that return
// many rows return pages of at most limit of them, in the order that each says, which follow a
// position; the position's zero value is the beginning, and what is there need not exist any
// more.
type Rows interface {
	// Row returns the row of a run. The error is [runlog.ErrNotFound] if there is no such run.
	Row(ctx context.Context, run string) (*Row, error)

	// FindStarted returns the id of the run that a caller started with an idempotency key,
	// the first if there are several; "" if there is none.
	FindStarted(ctx context.Context, by, key string) (run string, err error)

	// RunsOf returns the runs of an owner, or of all if owner is empty, newest first.
	RunsOf(ctx context.Context, owner string, after Position, limit int) ([]*Row, error)

	// Unfinished returns the runs that haven't ended, oldest first, without those that only
	// an answer, the end of a sleep or their turn lets go on; see [runstate.Run.IsAtRest].
	Unfinished(ctx context.Context, after Position, limit int) ([]*Row, error)

	// Ended returns the runs that have ended, by their ends, newest first. Positions here are
	// by the time of the end.
	Ended(ctx context.Context, after Position, limit int) ([]*Row, error)

	// Due returns the runs that have a deadline or a sleep, by the first of these; see
	// [runstate.Run.Due]. Positions here are by that time.
	Due(ctx context.Context, after Position, limit int) ([]*Row, error)

	// FirstOf returns the first of the unfinished runs with an exclusive key of a photon: one
	// that has begun, otherwise the one that started first; nil if there is none.
	FirstOf(ctx context.Context, photon, key string) (*Row, error)

	// Queued returns the unfinished runs that wait for others with their exclusive key, oldest
	// first.
	Queued(ctx context.Context, after Position, limit int) ([]*Row, error)

	// ForksOf returns the runs that were forked from a run, oldest first.
	ForksOf(ctx context.Context, run string, after Position, limit int) ([]*Row, error)

	// Asks returns open questions, oldest first. Positions here are by the time of the
	// question; their ids are those of questions.
	Asks(ctx context.Context, f AskFilter, after Position, limit int) ([]Ask, error)

	// CountRuns returns the number of runs in each state.
	CountRuns(ctx context.Context) (map[runstate.State]int, error)

	// CountOf returns the numbers of an owner, or of all owners if owner is empty.
	CountOf(ctx context.Context, owner string) (Counts, error)

	// CountUnfinished returns the number of unfinished runs by who holds them and by photon.
	CountUnfinished(ctx context.Context) (map[Holding]int, error)

	// CountAsks returns how many questions are open that were asked at a time or before.
	CountAsks(ctx context.Context, until time.Time) (int, error)
}

// A Row is what is known of a run without its entries.
type Row struct {
	ID string
	runstate.Run
}

// An Ask is an open question and its run.
type Ask struct {
	*runstate.Ask
	Run *Row
}

// ID returns the question's id; see [runlog.AskID].
func (a *Ask) ID() string { return runlog.AskID(a.Run.ID, a.Seq) }

// A Position is a place in a list that is ordered by a time and, at the same time, by an id.
type Position struct {
	At time.Time
	ID string
}

// IsZero reports whether p is the beginning of a list.
func (p Position) IsZero() bool { return p == Position{} }

// An AskFilter selects open questions.
type AskFilter struct {
	Owner string // of their runs; empty for all
	// Names selects the questions, too, of which the audience has one of these names; see
	// [audience.Names]. It means nothing if Owner is empty.
	Names []string
	// Restricted selects only the questions that say who may answer.
	Restricted bool
	// Called selects only the questions for which a model has been called.
	Called bool
}

// A Holding is what unfinished runs are counted by: the replica that claimed them last, if it shared
// the store, and the name of their photon.
type Holding struct{ Worker, Photon string }

// Compare orders holdings.
func (h Holding) Compare(o Holding) int {
	return cmp.Or(cmp.Compare(h.Worker, o.Worker), cmp.Compare(h.Photon, o.Photon))
}

// Counts are the numbers of an owner's runs and open questions.
type Counts struct{ Runs, Unfinished, Asks int }
