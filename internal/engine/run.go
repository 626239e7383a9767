package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A trackedRun is the engine's view of one run that is in memory; see [residents]. While the
// run's generator is in this process, the trackedRun has the worker that drives it.
type trackedRun struct {
	core   *core
	id     string
	photon *generators.Photon // nil if no such photon is registered

	// adopter is the owner if it isn't who started the run. It changes while mu is held.
	adopter atomic.Pointer[generators.Caller]

	// lost means that the run is to end, because it can't go on; see isLost.
	lost atomic.Bool

	secretAnswers *runSecrets

	// ended means that the run's end is recorded, for those who may not take mu.
	ended atomic.Bool

	// readerCount is the number of loops over the run's entries.
	readerCount atomic.Int32

	// mu guards what follows, and the worker with its batch, but not the Start and StartedAt of the
	// journal, which don't change. It is held while methods of the run, its worker and the effects of
	// entries are called: only those take it that say so, and only owner, ownerName, isUsableBy,
	// nameOfOther, auditEvent and tracedRun need none. Within the process, appends to the log
	// therefore never conflict: a conflict means that another process wrote. Of other locks, only
	// those of the parts of core are taken while mu is held.
	mu      sync.Mutex
	drivers int32 // goroutines that drive its generators, which may still be returning
	journal.Journal
	clock        clock
	source       *replay.Source // what it takes from an earlier run; nil for nothing
	worker       *worker        // nil if the generator is not in this process
	waiters      []Waiter       // woken at the next entry; see Engine.AddWaiter
	resuming     bool           // queued to be resumed, or being resumed
	endPending   bool           // the end has yet to be recorded
	startRefused bool           // the start failed; the run will be deleted
	pinned       bool           // see updatePin
	evictable    bool           // see updateEviction
	idle         idleTimer      // see Engine.SetIdleTimeout

	// What recount counts.
	inactive       bool // unfinished, but it can't continue in this process, or not yet
	removed        bool // it was deleted, or not started
	returning      bool // it was stopped, and its generator has yet to return
	works, counted bool
}

func newTrackedRun(c *core, p *generators.Photon, s runlog.Started) *trackedRun {
	r := newRun(c, newRunID(), runstate.Run{})
	r.photon = p
	r.Begin(s, time.Now())
	r.secretAnswers.masked.Store(&noSecrets)
	return r
}

// newRun returns a run whose entries have led to state.
func newRun(c *core, id string, state runstate.Run) *trackedRun {
	r := &trackedRun{core: c, id: id}
	r.secretAnswers = &runSecrets{run: id, keys: c.keys, files: c.files, ended: &r.ended}
	r.Journal = journal.New(id, state, c.files.OfRun(id, r.owner), journal.Hooks{
		Log: c.log, Load: c.files.Load, Appended: c.meter.EntriesAppended, Apply: r.applyEntry,
		ResolveLater: func() { r.retryLater(func() error { return r.Resolve(c.ctx) }) },
	})
	return r
}

func newRunID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// owner returns the id of the run's owner.
func (r *trackedRun) owner() string {
	if c := r.adopter.Load(); c != nil {
		return c.ID
	}
	return r.Start.Owner
}

// ownerName returns what people call the run's owner.
func (r *trackedRun) ownerName() string {
	return nameOfOwner(r.Start, r.adopter.Load())
}

// isUsableBy reports whether a caller may see, answer and stop the run.
func (r *trackedRun) isUsableBy(c generators.Caller) bool { return usableBy(c, r.owner()) }

// nameOfOther returns what people call a caller, or "" for the run's owner and for an
// unknown caller.
func (r *trackedRun) nameOfOther(c *generators.Caller) string {
	if c == nil || c.ID == r.owner() {
		return ""
	}
	return callers.Describe(c.ID, c.Name)
}

// info returns what lists show, without the open questions.
func (r *trackedRun) info() Info {
	i := r.core.describe(r.id, &r.Run)
	if w := r.worker; w != nil && len(w.pauses) > 0 && r.State == Running {
		i.PausedFor = *w.pauses[0]
	}
	return i
}

// auditEvent returns an event of a caller that concerns the run.
func (r *trackedRun) auditEvent(kind string, caller generators.Caller) audit.Event {
	event := audit.Of(kind, caller)
	event.Run, event.Photon = r.id, r.Start.Photon
	return event
}

func (r *trackedRun) tracedRun() TracedRun {
	return TracedRun{ID: r.id, Photon: r.Start.Photon, Surface: r.Start.Surface, Trace: r.Start.Trace}
}

// setInactive notes that an unfinished run can't continue in this process, or not yet, which
// doesn't count as working, or that it can.
func (r *trackedRun) setInactive(inactive bool) {
	r.inactive = inactive
	r.core.residents.recount(r)
}

// updatePin keeps the run in memory if nothing else does, or no longer.
func (r *trackedRun) updatePin() {
	pinned := len(r.waiters) > 0 || !r.State.Ended() && (r.Queued || r.source.IsVolatile())
	if pinned == r.pinned {
		return
	}
	r.pinned = pinned
	x := r.core.residents
	x.mu.Lock()
	defer x.mu.Unlock()
	if pinned {
		x.pinned[r] = struct{}{}
	} else {
		delete(x.pinned, r)
	}
}

// releaseKey lets the next run with the run's exclusive key start, if this one has ended, and its
// generator has returned.
func (r *trackedRun) releaseKey() {
	if r.State.Ended() && r.drivers == 0 {
		r.core.exclusive.Release(exclusive.KeyOf(&r.Start), r.id)
	}
}

// wakeWaiters wakes and removes all waiters.
func (r *trackedRun) wakeWaiters() {
	for _, w := range r.waiters {
		w.Wake()
	}
	if len(r.waiters) > 0 {
		r.core.followers.Add(-int64(len(r.waiters)))
		r.waiters = nil
		r.updatePin()
	}
}

// flushAndAppend appends the worker's batch, if there is a worker, followed by entries. If that
// fails, the batch keeps what it had.
func (r *trackedRun) flushAndAppend(ctx context.Context, entries ...runlog.Entry) error {
	if err := r.Resolve(ctx); err != nil {
		return err
	}
	w := r.worker
	if w == nil || len(w.batch.entries) == 0 {
		return r.Append(ctx, entries...)
	}
	w.batch.flushedAt = time.Now()
	n := len(w.batch.entries)
	recorded := func() {
		if r.worker == w { // it may have been stopped in the meantime
			w.batch.removeFirst(n)
		}
	}
	return r.AppendThen(ctx, recorded, slices.Concat(w.batch.entries, entries)...)
}

// catchUp applies what other processes have appended, given where the log ends; found reports whether
// the run exists. Callers hold mu.
func (r *trackedRun) catchUp(last uint64, found bool) error {
	switch {
	case r.Last == 0 || r.removed: // it is about to start, or gone
		return nil
	case !found: // perhaps since it was asked for before the start was recorded
		heads, err := r.core.share.Heads(r.core.generatorCtx, []string{r.id})
		if last, found = heads[r.id]; err != nil || found {
			return err
		}
		r.core.residents.remove(r)
		r.wakeWaiters()
		return nil
	case last <= r.Last:
		return nil
	}
	return r.CatchUp(r.core.generatorCtx)
}

// isSuperseded reports whether an append failed because another process has
// claimed the run, which continues there.
func (r *trackedRun) isSuperseded(err error) bool {
	return errors.Is(err, journal.ErrOver) && !r.State.Ended()
}

// retryLater calls try, with mu held, again and again after retryInterval, until it succeeds,
// fails for good or the engine closes.
func (r *trackedRun) retryLater(try func() error) {
	r.core.retries.AddLater(schedule.Job{Wait: retryInterval, MaxWait: retryInterval, Try: func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		err := try()
		switch {
		case errors.Is(err, journal.ErrOver):
			return nil
		case err != nil && !IsTransient(err):
			r.core.logger.Error("retrying a failed append", "run", r.id, "err", err)
			return nil
		}
		return err
	}})
}

// A clock measures how long a run has worked, without the time in which it has waited or slept.
// The run's lock guards it.
type clock struct {
	spent time.Duration // until it was last started
	since time.Time     // when that was; zero while the clock is stopped
	timer *time.Timer   // of the time limit, if since isn't zero and there is a limit
}

// elapsed returns how long the run has worked.
func (c *clock) elapsed() time.Duration {
	if c.since.IsZero() {
		return c.spent
	}
	return c.spent + time.Since(c.since)
}

// start starts the clock, unless it runs. It calls expired when the run has worked for limit, if
// that isn't 0.
func (c *clock) start(limit time.Duration, expired func()) {
	if !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	if limit > 0 {
		c.timer = time.AfterFunc(limit-c.spent, expired)
	}
}

// stop stops the clock, if it runs.
func (c *clock) stop() {
	c.spent, c.since = c.elapsed(), time.Time{}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// updateClock starts or stops the run's clock. It runs while no question is open, no sleep in
// progress and no write stalled.
func (r *trackedRun) updateClock() {
	w := r.worker
	switch {
	case w == nil:
	case r.State == Running && w.stalledCount == 0:
		r.clock.start(r.photon.Options().TimeLimit, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.worker == w && !r.clock.since.IsZero() {
				w.generator.Stop(generators.ErrTimeLimit)
			}
		})
	default:
		r.clock.stop()
	}
}

// An idleTimer expires when nobody has followed or answered a run for a while. The run's lock
// guards it. The zero value never expires.
type idleTimer struct {
	after time.Duration
	due   time.Time
	timer *time.Timer // nil if it is stopped
}

// start starts the timer, which calls expired with no lock held.
func (t *idleTimer) start(after time.Duration, expired func()) {
	t.stop()
	t.after, t.due, t.timer = after, time.Now().Add(after), time.AfterFunc(after, expired)
}

// restart restarts the timer, unless it is stopped.
func (t *idleTimer) restart() {
	if t.timer != nil {
		t.due = time.Now().Add(t.after)
		t.timer.Reset(t.after)
	}
}

// isDue reports whether the timer has expired, and wasn't stopped or restarted since.
func (t *idleTimer) isDue() bool { return t.timer != nil && !time.Now().Before(t.due) }

// stop stops the timer.
func (t *idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

// stopIfIdle stops the run when its idle timer has expired, unless it is being followed. It takes
// mu.
func (r *trackedRun) stopIfIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.idle.isDue():
	case len(r.waiters) > 0 || r.readerCount.Load() > 0:
		r.idle.restart()
	default:
		r.idle.stop()
		r.endRun(runlog.Finished{Status: runlog.Stopped, Error: "no client came back to the run"})
	}
}
