package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine/evict"
)

// residents finds the runs that are in memory. Each is there for as long as something holds
// it: a worker, a timer, a request. So there is only one object for a run, and a run that
// nobody needs costs nothing but its row. The methods may be called from several goroutines.
type residents struct {
	loads singleflight.Group

	mu   sync.RWMutex
	byID map[string]weak.Pointer[trackedRun]
	// pinned are the runs that nothing else holds, but that wait to wake somebody, were
	// queued here, or are to get answers that only they have.
	pinned map[*trackedRun]struct{}
	starts starts
	closed bool // add returns ErrClosing
	// workingRuns counts the running runs that are not inactive.
	workingRuns int
	working     *budget.Budget // of each owner; see recount
	allIdle     chan struct{}  // closed when workingRuns is 0; nil if nobody waits for that
}

func newResidents(working *budget.Budget) *residents {
	return &residents{
		byID: make(map[string]weak.Pointer[trackedRun]), pinned: make(map[*trackedRun]struct{}), working: working,
		starts: starts{byKey: make(map[idempotencyKey]*trackedRun), byOwner: make(map[string]int)},
	}
}

// find returns a run if it is in memory, or nil.
func (x *residents) find(id string) *trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byID[id].Value()
}

// all returns the runs in memory, in no particular order.
func (x *residents) all() []*trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]*trackedRun, 0, len(x.byID))
	for _, p := range x.byID {
		if r := p.Value(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// insert adds a run. Callers hold mu.
func (x *residents) insert(r *trackedRun) {
	x.byID[r.id] = weak.Make(r)
	runtime.AddCleanup(r, x.forget, r.id)
}

// forget removes a run that nothing holds any more.
func (x *residents) forget(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byID[id].Value() == nil { // it may have been loaded again
		delete(x.byID, id)
	}
}

// remove removes a run, because it was deleted, or not started. Callers hold r.mu.
func (x *residents) remove(r *trackedRun) {
	x.mu.Lock()
	if x.byID[r.id].Value() != r {
		x.mu.Unlock()
		return
	}
	delete(x.byID, r.id)
	delete(x.pinned, r)
	x.mu.Unlock()
	r.removed = true
	x.recount(r)
}

// Running runs count as working, and against the budget of their owners, unless they are
// inactive: they can't continue in this process, or not yet.

// recount counts a run among those that work here, or no longer: if it is running and active. Its owner's
// budget counts it, too, if it was stopped while its generator has yet to return. Callers hold r.mu.
func (x *residents) recount(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	works := r.State == Running && !r.inactive && !r.removed && !r.core.share.IsElsewhere(r.Worker)
	if works != r.works {
		r.works = works
		x.workingRuns += sign(works)
	}
	if counts := works || r.returning; counts != r.counted {
		r.counted = counts
		x.working.Add(r.owner(), int64(sign(counts)))
	}
	if x.workingRuns == 0 && x.allIdle != nil {
		close(x.allIdle)
		x.allIdle = nil
	}
}

func sign(more bool) int {
	if more {
		return 1
	}
	return -1
}

// changeOwner calls change, which makes another caller the owner of a run. Callers hold r.mu.
func (x *residents) changeOwner(r *trackedRun, change func()) {
	if r.counted {
		r.counted = false
		x.working.Add(r.owner(), -1)
	}
	change()
	x.recount(r)
}

// stopAccepting makes add return ErrClosing.
func (x *residents) stopAccepting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// waitIdle waits until no run is working or ctx ends.
func (x *residents) waitIdle(ctx context.Context) {
	x.mu.Lock()
	if x.workingRuns == 0 {
		x.mu.Unlock()
		return
	}
	if x.allIdle == nil {
		x.allIdle = make(chan struct{})
	}
	idle := x.allIdle
	x.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// ErrMustWait means that a run's owner has as many working runs as may be; see
// [WithoutWaiting].
var ErrMustWait = errors.New("the run must wait for its turn to work")

type maxWaitKey struct{}

// TurnWait is how long surfaces let a start or an answer wait for its turn.
const TurnWait = 2 * time.Second

// WithMaxWait returns a context with which [Engine.Start] and [Engine.AnswerShown] wait for up
// to d if too many runs of the owner work. Without it they don't wait.
func WithMaxWait(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, maxWaitKey{}, d)
}

// WithoutWaiting returns a context with which [Engine.Start] and [Engine.AnswerShown] return
// [ErrMustWait] if too many runs of the owner work, which doesn't count as a refusal. It is
// for who reads messages one after the other, as MCP over stdio does, and tries again
// elsewhere.
func WithoutWaiting(ctx context.Context) context.Context { return WithMaxWait(ctx, -1) }

// inTurn calls try, which lets a run work, with an empty owner. If it returns ErrMustWait,
// inTurn waits for the turn of the run's owner, and calls it again with that owner, from whose
// budget one was taken; try counts the run as that one, or gives it back. The error is that
// of try, or a [*budget.ExceededError].
func (x *residents) inTurn(ctx context.Context, r *trackedRun, try func(takenFrom string) error) error {
	err := try("")
	maxWait, _ := ctx.Value(maxWaitKey{}).(time.Duration)
	for errors.Is(err, ErrMustWait) && maxWait >= 0 { // again only if the run has another owner by then
		owner := r.owner()
		if err := x.working.TakeInTurn(ctx, owner, maxWait); err != nil {
			return err
		}
		err = try(owner)
	}
	return err
}

// countTaken counts a run as the one that was taken from an owner's budget, if any, until
// recount is called. Callers hold r.mu.
func (x *residents) countTaken(r *trackedRun, owner string) {
	switch {
	case owner == "":
	case r.counted || r.owner() != owner: // another caller has adopted the run in the meantime
		x.working.Add(owner, -1)
	default:
		r.counted = true
	}
}

// countAhead counts a run as working that an answer would let work, until recount is
// called. It reports whether its owner may have one more. Callers hold r.mu.
func (x *residents) countAhead(r *trackedRun) bool {
	if r.State != Waiting || len(r.Asks) > 1 || len(r.Sleeps) > 0 {
		return true
	}
	r.counted = r.counted || x.working.TryTake(r.owner())
	return r.counted
}

// isEvictable reports whether the generator could be evicted, as far as its calls show: it waits
// for answers or sleeps, no step is running, whose effect would be repeated, and a replay has
// reached every open question and sleep. Only Evict checks whether goroutines of the generator
// are working.
func (w *worker) isEvictable() bool {
	return w != nil && w.Start.Durable && (w.State == Waiting || w.State == Sleeping) && len(w.runningSteps) == 0 && w.stalledCount == 0 &&
		len(w.calls) == len(w.Asks)+len(w.Sleeps)
}

// minEvictedSleep is the shortest rest of a sleep for which a run is evicted: for less,
// a replay isn't worth the memory.
const minEvictedSleep = time.Second

// idleness returns since when an evictable run waits.
func (w *worker) idleness() evict.Idleness {
	now, always := time.Now(), w.core.limits.ReplayAlways
	i := evict.Idleness{Since: now, After: evict.IdleAfter, Soon: always || w.State == Sleeping && nextWake(&w.Run).Sub(now) >= minEvictedSleep}
	last := slices.MaxFunc(w.calls, func(a, b *waitingCall) int { return int(a.seq) - int(b.seq) })
	switch {
	case slices.ContainsFunc(w.calls, func(c *waitingCall) bool { return c.Concurrent }): // it had started goroutines before it asked
		i.After = evict.ConcurrentIdleAfter
	case always && !last.More:
		i.After = 0
	}
	return i
}

// updateEviction adds the run to the evictor or removes it, after a change of the run.
func (r *trackedRun) updateEviction() {
	was := r.evictable
	if r.evictable = r.worker.isEvictable(); r.evictable {
		r.core.evictor.Add(r, r.worker.idleness())
	} else if was {
		r.core.evictor.Remove(r)
	}
}

// Evict suspends the run's generator and frees its memory, unless the run has become active since
// it was due. It takes mu.
func (r *trackedRun) Evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// The run may have been answered since, or have events in its batch. With an empty batch there
	// is nothing to append here.
	if !w.isEvictable() || !r.core.evictor.IsIdle(r, time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.generator.Working() { // its work would be lost, as only an answer resumes the run
		r.updateEviction()
		return
	}
	w.batch.discard()
	r.detachWorker()
	w.generator.Stop(generators.ErrSuspended)
}
