package engine

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A trackedRun is the engine's view of one run, which may be in progress or have
// ended. While the run's generator is in this process, the trackedRun has the
// worker that drives it.
//
// Code that appends to the run's log holds mu. Within the process, appends
// therefore never conflict: a conflict means that another process wrote.
type trackedRun struct {
	engine          *Engine
	id              string
	photon          *generators.Photon // nil if no such photon is registered
	startedByPerson bool               // it is known which person started it
	requestDigest   *[sha256.Size]byte // see digestRequest; nil without an idempotency key

	// adopter is the owner if it isn't who started the run. It changes while both mu
	// and the index's mu are held.
	adopter atomic.Pointer[generators.Caller]

	// masked are the secrets that are masked in the run's messages; nil for none.
	masked atomic.Pointer[[]secret]

	// readerCount is the number of loops over the run's entries.
	readerCount atomic.Int32

	mu                 sync.Mutex
	drivers            int32     // goroutines that drive its generators, which may still be returning
	runstate.Run                 // guarded by mu, but for Start and StartedAt, which don't change
	poll               *pollInfo // nil if no caller polls the run
	openAsks           []*openAsk
	sleeps             []*sleep
	timeSpent          time.Duration
	answers            *recordedAnswers // of an earlier run; nil for none
	worker             *worker          // nil if the generator is not in this process
	waiters            []Waiter         // woken at the next entry; see Engine.AddWaiter
	uncertain          *uncertainAppend // nil if the outcome of every append is known
	resuming           bool             // queued to be resumed, or being resumed
	loading            bool             // the log is being read
	startDamage        error            // the run's start was damaged when the log was read; nil if not
	endPending         bool             // the end has yet to be recorded
	startRefused       bool             // the start failed; the run will be deleted
	inactive           bool             // unfinished, but it can't continue in this process, or not yet; guarded by the index's mu
	counted, returning bool             // see recount; guarded by the index's mu
	// idleTimer is nil if the run has no idle timeout; see Engine.SetIdleTimeout.
	idleTimer *idleTimeout
	// evictionElem is the run's element in the list of evictable runs; nil if it
	// isn't evictable. It is guarded by both mu and the queue's mu.
	evictionElem *list.Element

	// The run's blobs; see blobs.go.
	blobRefs     map[string]int // references to each blob, by entries and uploads
	blobBytes    int64          // bytes of the referenced blobs
	spilledBytes int64          // bytes of entry data that is too large for the log
}

func newTrackedRun(e *Engine, p *generators.Photon, s runlog.Started) *trackedRun {
	r := &trackedRun{engine: e, id: newRunID()}
	r.begin(p, s, time.Now())
	return r
}

// begin applies the run's first entry.
func (r *trackedRun) begin(p *generators.Photon, s runlog.Started, at time.Time) {
	if s.IdempotencyKey != "" {
		digest := digestRequest(s)
		r.requestDigest = &digest
	}
	r.Begin(s, at)
	r.startedByPerson = callers.IsPerson(s.StartedBy())
	r.photon, r.poll = p, newPollInfo(s, at)
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
	c := r.adopter.Load()
	if c == nil {
		c = r.Start.Caller
	}
	if c == nil {
		return callers.Describe(r.Start.Owner, "")
	}
	return callers.Describe(c.ID, c.Name)
}

// forgetOpenAsk removes a settled question from the open ones. Callers hold mu.
func (r *trackedRun) forgetOpenAsk(a *openAsk) {
	r.openAsks = slices.DeleteFunc(r.openAsks, func(o *openAsk) bool { return o == a })
	if r.loading {
		return
	}
	r.engine.deadlines.cancel(&a.deadline)
	r.engine.index.removeAsk(r, a)
}
