package engine

import (
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
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

// updatePin keeps the run in memory if nothing else does, or no longer. Callers hold mu.
func (r *trackedRun) updatePin() {
	pinned := len(r.waiters) > 0 || !r.State.Ended() && (r.Queued || r.answers != nil)
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

// usableBy reports whether a caller may see, answer and stop a run of an owner.
func usableBy(c generators.Caller, owner string) bool {
	return c.ID != "" && (c.ID == owner || usesAllRuns(c))
}

// usesAllRuns reports whether a caller sees, answers and stops the runs of all
// owners.
func usesAllRuns(c generators.Caller) bool { return c.ID != "" && c.HasRole(generators.RoleOperator) }

// ownedBy returns the owner whose runs a caller lists; empty for all.
func ownedBy(c generators.Caller) string {
	if usesAllRuns(c) {
		return ""
	}
	return c.ID
}

// nameOfOwner returns what people call the owner of a run.
func nameOfOwner(started runlog.Started, adopter *generators.Caller) string {
	c := adopter
	if c == nil {
		c = started.Caller
	}
	if c == nil {
		return callers.Describe(started.Owner, "")
	}
	return callers.Describe(c.ID, c.Name)
}
