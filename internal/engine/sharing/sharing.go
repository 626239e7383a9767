// Package sharing lets several processes share a log. Each run is held by the process that has
// claimed it last, for as long as that is there: it has the generator, or goes on with the run once a
// question is settled, whoever has recorded that. When it is gone, another process claims the run. Any
// process may answer, stop or show any run: what it has in memory of a run is brought up to date
// whenever somebody asks for the run, and when it hears that the run has changed.
package sharing

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// A Replica is this process among those that share the log; see packages replica and store. Its
// methods may be called from several goroutines, with the lock of a run held.
type Replica interface {
	// ID is what claims record of this process.
	ID() string
	// Holds reports whether this process may go on with the runs that a process, of that ID, has
	// claimed last.
	Holds(ctx context.Context, worker string) bool
	// AwaitLease waits until others certainly take this process for one that is there, and reports
	// whether it had to wait.
	AwaitLease(ctx context.Context) (waited bool, err error)
	// Peers returns the processes that share the log, this one among them, in the order in which they
	// have joined.
	Peers() []Peer
	// LeaseAge returns how long ago the lease of this process was renewed.
	LeaseAge() time.Duration
	// Changed waits until the log has changed. It returns the ordinals of the last entries of runs that
	// have changed, 0 for one that was deleted; others means that others may have changed, too.
	Changed(ctx context.Context) (runs map[string]uint64, others bool, err error)
	// Heads returns the ordinals of the last entries of runs. Those that don't exist are missing.
	Heads(ctx context.Context, runs []string) (map[string]uint64, error)
}

// A Share is this process's share of a log; nil if it has the log alone.
type Share struct {
	Replica
	seen atomic.Pointer[Seen] // nil at first
}

// New returns the share of a replica, which may be nil.
func New(r Replica) *Share {
	if r == nil {
		return nil
	}
	return &Share{Replica: r}
}

// Worker returns what claims record of this process; "" if it is alone.
func (s *Share) Worker() string {
	if s == nil {
		return ""
	}
	return s.ID()
}

// IsElsewhere reports whether another process has claimed a run last, which may be gone.
func (s *Share) IsElsewhere(worker string) bool { return s != nil && worker != "" && worker != s.ID() }

// Holds reports whether this process may go on with what a worker has claimed last.
func (s *Share) Holds(worker string) bool {
	return s == nil || s.Replica.Holds(context.Background(), worker)
}

// AwaitLease is that of the replica; a process that is alone doesn't wait.
func (s *Share) AwaitLease(ctx context.Context) (waited bool, err error) {
	if s == nil {
		return false, nil
	}
	return s.Replica.AwaitLease(ctx)
}

// Runs are the runs of an engine.
type Runs interface {
	// InMemory yields the ids of the runs in memory.
	InMemory() []string
	// CatchUp applies what other processes have appended to a run in memory, given where its log
	// ends; found reports whether it exists. It reports false if the run isn't in memory.
	CatchUp(run string, last uint64, found bool) bool
	// NoteChange is told that a run has changed that isn't in memory.
	NoteChange(run string)
	// RecoverHeld goes on with the runs that this process holds, but doesn't have in memory, such as
	// those of a process that is gone.
	RecoverHeld() error
	// RefreshLists has all lists shown anew.
	RefreshLists()
}

// interval is how often all runs in memory are compared with the log, since hints may be lost, and runs
// looked for that nobody holds.
const interval = time.Second

// Keep keeps runs up to date until ctx ends.
func (s *Share) Keep(ctx context.Context, runs Runs, logger *slog.Logger) {
	go func() {
		for {
			changed, others, err := s.Changed(ctx)
			if err != nil {
				return
			}
			for id, last := range changed {
				if !runs.CatchUp(id, last, last > 0) {
					runs.NoteChange(id)
				}
			}
			if others {
				s.compare(ctx, runs)
			}
		}
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.compare(ctx, runs)
		if err := runs.RecoverHeld(); err != nil && ctx.Err() == nil {
			logger.Error("looking for runs to go on with", "err", err)
		}
		runs.RefreshLists()
	}
}

// compare applies what other processes have appended to the runs in memory.
func (s *Share) compare(ctx context.Context, runs Runs) {
	ids := runs.InMemory()
	heads, err := s.Heads(ctx, ids)
	if err != nil {
		return // the next time; the database's absence is logged
	}
	for _, id := range ids {
		last, found := heads[id]
		runs.CatchUp(id, last, found)
	}
}
