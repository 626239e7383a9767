// Package retention decides which finished runs are kept, and deletes the others.
package retention

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runstate"
)

// Limits bound which finished runs are kept.
type Limits struct {
	MaxPerOwner int           // runs of an owner
	MaxRuns     int           // of all owners
	MaxBytes    int64         // of their logs and files; 0 for no limit
	Longest     time.Duration // after their ends
	Shortest    time.Duration // after their ends, however many there are
}

// burstFactor times Limits.MaxRuns is the number of finished runs above which even
// those within Limits.Shortest, or with a promised retention, are deleted.
const burstFactor = 10

// MaxPromise bounds the retention that can be promised for a run.
const MaxPromise = time.Hour

// A Keeper keeps the finished runs of a log. Its methods may be called from several goroutines.
type Keeper struct {
	Limits Limits
	Ended  func() iter.Seq2[*runlist.Row, error] // finished runs, those that ended last first
	Size   func(run string) int64                // bytes of a run's files
	InUse  func(run string) bool                 // then it isn't deleted; nil if none is
	// DeleteRun deletes a finished run, unless somebody uses it, and reports whether it did.
	DeleteRun func(run string) (deleted bool, err error)
	Logger    *slog.Logger
	// Closing is closed when no more runs are to be deleted; nil if that is never so. [Keeper.Pause]
	// then waits for those that are being deleted.
	Closing <-chan struct{}

	promises  promises
	deletions deletions
	bursts    bursts
}

// Run deletes the runs that the limits don't allow to keep, until it closes. It does so
// periodically rather than when a run ends, because runs are kept for Limits.Shortest in any case,
// except in a burst. The finished runs beyond the limits are therefore those that ended within
// that time and a quarter of it, those with a promised retention, at most twice burstFactor times
// Limits.MaxRuns in all, and those that are being read.
func (k *Keeper) Run() {
	tick := time.NewTicker(min(max(k.Limits.Shortest/4, time.Second), time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-k.Closing:
			return
		case <-tick.C:
		case <-k.bursts.next():
		}
		if _, err := k.remove(k.exceeds(time.Now()), false); err != nil && err != ErrPaused { // the next time tries again
			k.Logger.Error("deleting runs", "err", err)
		}
	}
}

// RunEnded notes that a run has ended. A burst of ends is not left to the next period: the runs of
// a log in memory would take it up.
func (k *Keeper) RunEnded() { k.bursts.add(max(minBurst, burstFactor*k.Limits.MaxRuns)) }

// minBurst is how many ends are a burst at least.
const minBurst = 1000

// bursts count the runs that have ended since the last deletion.
type bursts struct {
	mu    sync.Mutex
	ended int
	reach chan struct{} // closed when there are too many; nil if nobody waits
}

// next returns a channel that is closed when there are too many from now on.
func (b *bursts) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended, b.reach = 0, make(chan struct{})
	return b.reach
}

// add counts one more, of most.
func (b *bursts) add(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended++; b.ended >= most && b.reach != nil {
		close(b.reach)
		b.reach = nil
	}
}

// exceeds returns a function that reports whether a finished run is beyond the limits. It is
// called for each, those that ended last first.
func (k *Keeper) exceeds(now time.Time) func(*runlist.Row) bool {
	l := &k.Limits
	countByOwner := make(map[string]int) // one owner's runs never displace another's
	var count int
	var bytes int64
	return func(row *runlist.Row) bool {
		countByOwner[row.Owner()]++
		count++
		if l.MaxBytes > 0 {
			bytes += k.size(row)
		}
		tooMany := countByOwner[row.Owner()] > l.MaxPerOwner || count > l.MaxRuns || bytes > l.MaxBytes && l.MaxBytes > 0
		tooMany = tooMany && !now.Before(k.Until(row.ID, &row.Run)) || count > burstFactor*l.MaxRuns
		return tooMany || now.Sub(row.EndedAt) > l.Longest
	}
}

// remove deletes the finished runs that selects selects, those that ended first before others,
// and returns them. If dryRun is set, it only returns them. The error is [ErrPaused], or that of
// reading rows or deleting.
func (k *Keeper) remove(selects func(*runlist.Row) bool, dryRun bool) ([]Run, error) {
	end, err := k.deletions.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var selected []Run
	for row, err := range k.Ended() {
		if err != nil || k.isClosing() {
			return nil, err
		}
		if selects(row) {
			selected = append(selected, Run{ID: row.ID, Photon: row.Start.Photon, State: row.State, Ended: row.EndedAt, Bytes: k.size(row)})
		}
	}
	slices.Reverse(selected)
	if dryRun {
		return selected, nil
	}
	return k.deleteEach(selected)
}

func (k *Keeper) isClosing() bool {
	select {
	case <-k.Closing:
		return true
	default:
		return false
	}
}

// size returns the approximate size of a run's log and files.
func (k *Keeper) size(row *runlist.Row) int64 { return row.Bytes + k.Size(row.ID) }

// maxDeletions is how many runs are deleted at once: each deletion waits for the disk, and the
// log syncs those that wait together.
const maxDeletions = 4

// deleteEach deletes runs until that fails, and returns those that were deleted.
func (k *Keeper) deleteEach(runs []Run) ([]Run, error) {
	deleted := make([]bool, len(runs))
	all, ctx := errgroup.WithContext(context.Background())
	all.SetLimit(maxDeletions)
	for i, r := range runs {
		if ctx.Err() != nil || k.isClosing() {
			break
		}
		all.Go(func() (err error) {
			deleted[i], err = k.DeleteRun(r.ID)
			return err
		})
	}
	err := all.Wait()
	var done []Run
	for i, r := range runs {
		if deleted[i] {
			done = append(done, r)
		}
	}
	return done, err
}

// Delete deletes a finished run, unless somebody uses it, and reports whether it did. The error
// is [ErrPaused], or that of deleting.
func (k *Keeper) Delete(run string) (deleted bool, err error) {
	end, err := k.deletions.begin()
	if err != nil {
		return false, err
	}
	defer end()
	return k.DeleteRun(run)
}

// Until returns the earliest time at which a run that has ended may be deleted.
func (k *Keeper) Until(id string, r *runstate.Run) time.Time {
	least := r.EndedAt.Add(max(k.Limits.Shortest, k.promises.get(id)))
	if promised := r.StartedAt.Add(time.Duration(r.Start.RetainFor)); promised.After(least) {
		least = promised
	}
	if most := r.EndedAt.Add(k.Limits.Longest); least.After(most) {
		return most
	}
	return least
}
