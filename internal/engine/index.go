package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
)

// An index finds runs by id, by owner and by idempotency key. It is a projection
// of all logs. Its methods may be called from several goroutines.
type index struct {
	mu               sync.RWMutex
	byID             map[string]*trackedRun
	byOwnerAndStart  *btree.BTreeG[*trackedRun] // see compareOwnerAndStart
	byOwnerAndAsked  *btree.BTreeG[*openAsk]    // see compareOwnerAndAsked
	byStart          *btree.BTreeG[*trackedRun] // the runs of all owners, for operators
	byAsked          *btree.BTreeG[*openAsk]    // the open questions of all owners
	ended            map[*trackedRun]struct{}   // the ended runs
	owners           map[string]*owner
	restricted       map[*openAsk]struct{} // the open questions that name who may answer
	watching         map[watcher][]generators.Caller
	everyone         owner // has all owners' open questions, and the watchers of all
	byIdempotencyKey map[idempotencyKey]*trackedRun
	closed           bool // addRun returns ErrClosing
	// workingRuns counts the running runs that are not inactive.
	workingRuns int
	working     *budget.Budget // of each owner; see recount
	allIdle     chan struct{}  // closed when workingRuns is 0; nil if nobody waits for that
}

// An owner has the numbers of one owner's runs, unfinished runs and open
// questions.
type owner struct {
	runs, active, openAsks int
	// watchers are notified when the owner's lists change.
	watchers map[watcher]struct{}
}

func newIndex(working *budget.Budget) *index {
	return &index{
		working:          working,
		byID:             make(map[string]*trackedRun),
		byOwnerAndStart:  btree.NewG(btreeDegree, func(a, b *trackedRun) bool { return compareOwnerAndStart(a, b) < 0 }),
		byOwnerAndAsked:  btree.NewG(btreeDegree, func(a, b *openAsk) bool { return compareOwnerAndAsked(a, b) < 0 }),
		byStart:          btree.NewG(btreeDegree, func(a, b *trackedRun) bool { return compareStart(a, b) < 0 }),
		byAsked:          btree.NewG(btreeDegree, func(a, b *openAsk) bool { return compareAsked(a, b) < 0 }),
		ended:            make(map[*trackedRun]struct{}),
		owners:           make(map[string]*owner),
		byIdempotencyKey: make(map[idempotencyKey]*trackedRun),
		restricted:       make(map[*openAsk]struct{}),
		watching:         make(map[watcher][]generators.Caller),
	}
}

// addRun adds a run that is about to start and returns it. If another run has the
// same idempotency key, addRun returns that run instead. taken says that the owner's budget
// has one for it; see inTurn. The error is ErrClosing, ErrMustWait, or if the owner has limit
// unfinished runs ErrTooManyRuns.
func (x *index) addRun(r *trackedRun, limit int, taken bool) (*trackedRun, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r.counted = taken
	defer x.recount(r) // gives it back if the run isn't added
	if x.closed {
		return nil, ErrClosing
	}
	if first := x.byIdempotencyKey[r.idempotencyKey()]; first != nil {
		return first, nil
	}
	o := x.ensureOwner(r.owner())
	if limit > 0 && o.active >= limit {
		return nil, ErrTooManyRuns
	}
	if !taken && !x.working.TryTake(r.owner()) {
		x.removeUnusedOwner(r.owner(), o)
		return nil, ErrMustWait
	}
	r.counted = true
	if r.Start.IdempotencyKey != "" {
		x.byIdempotencyKey[r.idempotencyKey()] = r
	}
	x.insertRun(r)
	return r, nil
}

// insertRun adds a run and its open questions. Callers hold mu.
func (x *index) insertRun(r *trackedRun) {
	x.byID[r.id] = r
	x.byStart.ReplaceOrInsert(r)
	for _, a := range r.openAsks {
		x.byAsked.ReplaceOrInsert(a)
		x.trackAudience(a)
	}
	x.everyone.openAsks += len(r.openAsks)
	x.addToOwner(r)
	switch {
	case r.State == Running:
		if !r.inactive {
			x.workingRuns++
		}
	case r.State.Ended():
		x.ended[r] = struct{}{}
	}
	x.recount(r)
}

// addToOwner adds a run and its open questions to the lists and numbers of its owner.
// Callers hold mu.
func (x *index) addToOwner(r *trackedRun) {
	o := x.ensureOwner(r.owner())
	o.runs++
	o.openAsks += len(r.openAsks)
	if !r.State.Ended() {
		o.active++
	}
	x.byOwnerAndStart.ReplaceOrInsert(r)
	for _, a := range r.openAsks {
		x.byOwnerAndAsked.ReplaceOrInsert(a)
	}
	o.notifyWatchers()
}

// removeFromOwner is the inverse of addToOwner. Callers hold mu.
func (x *index) removeFromOwner(r *trackedRun) {
	o := x.ensureOwner(r.owner())
	x.byOwnerAndStart.Delete(r)
	o.runs--
	for _, a := range r.openAsks {
		if _, found := x.byOwnerAndAsked.Delete(a); found {
			o.openAsks--
		}
	}
	if !r.State.Ended() {
		o.active--
	}
	o.notifyWatchers()
	x.removeUnusedOwner(r.owner(), o)
}

// changeOwner makes another caller the owner of a run. Callers hold r.mu.
func (x *index) changeOwner(r *trackedRun, to *generators.Caller) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byID[r.id] != r { // it is being read from the log
		r.adopter.Store(to)
		return
	}
	x.uncount(r)
	x.removeFromOwner(r)
	r.engine.disk.Add(r.owner(), -r.blobBytes)
	r.adopter.Store(to)
	r.engine.disk.Add(r.owner(), r.blobBytes)
	x.addToOwner(r)
	x.recount(r)
	x.everyone.notifyWatchers()
}

// loadRuns adds the runs that were read from the log to an empty index. If two
// have the same idempotency key, the one that started first keeps it.
func (x *index) loadRuns(runs []*trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range runs {
		x.insertRun(r)
		if first := x.byIdempotencyKey[r.idempotencyKey()]; r.Start.IdempotencyKey != "" && (first == nil || compareStart(r, first) < 0) {
			x.byIdempotencyKey[r.idempotencyKey()] = r
		}
	}
}

// stopAccepting makes addRun return ErrClosing.
func (x *index) stopAccepting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// ensureOwner returns an owner, which it creates if necessary. Callers hold mu.
func (x *index) ensureOwner(name string) *owner {
	o := x.owners[name]
	if o == nil {
		o = &owner{}
		x.owners[name] = o
	}
	return o
}

// lookup returns the run with an id, or nil.
func (x *index) lookup(id string) *trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byID[id]
}

// allRuns returns all runs, in no particular order.
func (x *index) allRuns() []*trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]*trackedRun, 0, len(x.byID))
	for _, r := range x.byID {
		all = append(all, r)
	}
	return all
}

// endedRuns returns the runs that have ended, in no particular order.
func (x *index) endedRuns() []*trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Collect(maps.Keys(x.ended))
}

// addAsk adds an open question. Callers hold r.mu.
func (x *index) addAsk(r *trackedRun, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byOwnerAndAsked.ReplaceOrInsert(a)
	x.byAsked.ReplaceOrInsert(a)
	x.ensureOwner(r.owner()).openAsks++
	x.everyone.openAsks++
	x.trackAudience(a)
}

// removeAsk removes a settled question. Callers hold r.mu.
func (x *index) removeAsk(r *trackedRun, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, found := x.byOwnerAndAsked.Delete(a); found {
		x.ensureOwner(r.owner()).openAsks--
	}
	if _, found := x.byAsked.Delete(a); found {
		x.everyone.openAsks--
		x.forgetAudience(a)
	}
}

// updateState records a change of a run's state and notifies the watchers.
func (x *index) updateState(r *trackedRun, from, to State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.ensureOwner(r.owner())
	if to.Ended() && !from.Ended() {
		o.active--
		x.ended[r] = struct{}{}
	}
	if from == Running && to != Running && !r.inactive {
		x.workingRuns--
	} else if from != Running && to == Running && !r.inactive {
		x.workingRuns++
	}
	x.recount(r)
	x.notifyIdle()
	o.notifyWatchers()
	x.everyone.notifyWatchers()
}

// removeRun removes a run and its open questions. Callers hold r.mu.
func (x *index) removeRun(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byID[r.id] != r {
		return
	}
	delete(x.byID, r.id)
	x.recount(r)
	r.engine.counters.uncountRun(r)
	delete(x.ended, r)
	if x.byIdempotencyKey[r.idempotencyKey()] == r {
		delete(x.byIdempotencyKey, r.idempotencyKey())
	}
	x.removeFromOwner(r)
	x.byStart.Delete(r)
	for _, a := range r.openAsks {
		if _, found := x.byAsked.Delete(a); found {
			x.everyone.openAsks--
			x.forgetAudience(a)
		}
	}
	if r.State == Running && !r.inactive {
		x.workingRuns--
	}
	x.everyone.notifyWatchers()
}
