package engine

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A trackedRun is the engine's view of one run that is in memory; see [residents]. While the
// run's generator is in this process, the trackedRun has the worker that drives it.
//
// Code that appends to the run's log holds mu. Within the process, appends
// therefore never conflict: a conflict means that another process wrote.
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

	mu              sync.Mutex
	drivers         int32 // goroutines that drive its generators, which may still be returning
	journal.Journal       // guarded by mu, but for Start and StartedAt, which don't change
	clock           clock
	answers         *replay.Answers // of an earlier run; nil for none
	worker          *worker         // nil if the generator is not in this process
	waiters         []Waiter        // woken at the next entry; see Engine.AddWaiter
	resuming        bool            // queued to be resumed, or being resumed
	endPending      bool            // the end has yet to be recorded
	startRefused    bool            // the start failed; the run will be deleted
	pinned          bool            // see updatePin
	evictable       bool            // see updateEviction
	idle            idleTimer       // see Engine.SetIdleTimeout

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

// setInactive notes that an unfinished run can't continue in this process, or not yet, which
// doesn't count as working, or that it can. Callers hold mu.
func (r *trackedRun) setInactive(inactive bool) {
	r.inactive = inactive
	r.core.residents.recount(r)
}

// auditEvent returns an event of a caller that concerns the run.
func (r *trackedRun) auditEvent(kind string, caller generators.Caller) audit.Event {
	event := audit.Of(kind, caller)
	event.Run, event.Photon = r.id, r.Start.Photon
	return event
}

// releaseKey lets the next run with the run's exclusive key start, if this one has ended, and its
// generator has returned. Callers hold mu.
func (r *trackedRun) releaseKey() {
	if r.State.Ended() && r.drivers == 0 {
		r.core.exclusive.Release(exclusive.KeyOf(&r.Start), r.id)
	}
}
