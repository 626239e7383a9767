package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"
)

// An index finds runs by id, by owner and by idempotency key. It is a projection
// of all logs. Its methods may be called from several goroutines.
type index struct {
	mu               sync.RWMutex
	byID             map[string]*trackedRun
	byOwnerAndStart  *btree.BTreeG[*trackedRun] // see compareOwnerAndStart
	byOwnerAndAsked  *btree.BTreeG[*openAsk]    // see compareOwnerAndAsked
	ended            map[*trackedRun]struct{}   // the ended runs
	owners           map[string]*owner
	byIdempotencyKey map[idempotencyKey]*trackedRun
	closed           bool // addRun returns ErrClosing
	// workingRuns counts the running runs that are not inactive.
	workingRuns int
	allIdle     chan struct{} // closed when workingRuns is 0; nil if nobody waits for that
}

// An owner has the numbers of one owner's runs, unfinished runs and open
// questions.
type owner struct {
	runs, active, openAsks int
	// watchers are notified when the owner's lists change.
	watchers map[watcher]struct{}
}

func newIndex() *index {
	return &index{
		byID:             make(map[string]*trackedRun),
		byOwnerAndStart:  btree.NewG(btreeDegree, func(a, b *trackedRun) bool { return compareOwnerAndStart(a, b) < 0 }),
		byOwnerAndAsked:  btree.NewG(btreeDegree, func(a, b *openAsk) bool { return compareOwnerAndAsked(a, b) < 0 }),
		ended:            make(map[*trackedRun]struct{}),
		owners:           make(map[string]*owner),
		byIdempotencyKey: make(map[idempotencyKey]*trackedRun),
	}
}

// addRun adds a run that is about to start and returns it. If another run has the
// same idempotency key, addRun returns that run instead. The error is ErrClosing
// or, if the owner has limit unfinished runs, ErrTooManyRuns.
func (x *index) addRun(r *trackedRun, limit int) (*trackedRun, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
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
	if r.started.IdempotencyKey != "" {
		x.byIdempotencyKey[r.idempotencyKey()] = r
	}
	x.insertRun(r)
	x.byOwnerAndStart.ReplaceOrInsert(r)
	return r, nil
}

// insertRun adds a run, except to the lists. Callers hold mu.
func (x *index) insertRun(r *trackedRun) {
	o := x.ensureOwner(r.owner())
	x.byID[r.id] = r
	o.runs++
	o.openAsks += len(r.openAsks)
	if r.state.Ended() {
		x.ended[r] = struct{}{}
		return
	}
	o.active++
	if r.state == Running {
		x.workingRuns++
	}
}

// loadRuns adds the runs that were read from the log to an empty index. If two
// have the same idempotency key, the one that started first keeps it.
func (x *index) loadRuns(runs []*trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range runs {
		x.insertRun(r)
		if first := x.byIdempotencyKey[r.idempotencyKey()]; r.started.IdempotencyKey != "" && (first == nil || compareStart(r, first) < 0) {
			x.byIdempotencyKey[r.idempotencyKey()] = r
		}
		x.byOwnerAndStart.ReplaceOrInsert(r)
		for _, a := range r.openAsks {
			x.byOwnerAndAsked.ReplaceOrInsert(a)
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
	x.ensureOwner(r.owner()).openAsks++
}

// removeAsk removes a settled question. Callers hold r.mu.
func (x *index) removeAsk(r *trackedRun, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.removeAskLocked(x.ensureOwner(r.owner()), a)
}

// removeAskLocked is removeAsk for callers that hold mu.
func (x *index) removeAskLocked(o *owner, a *openAsk) {
	if _, found := x.byOwnerAndAsked.Delete(a); found {
		o.openAsks--
	}
}

// updateState records a change of a run's state and notifies the owner's watchers.
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
	x.notifyIdle()
	o.notifyWatchers()
}

// removeRun removes a run and its open questions. Callers hold r.mu.
func (x *index) removeRun(r *trackedRun) {
	state := r.state
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byID[r.id] != r {
		return
	}
	delete(x.byID, r.id)
	r.engine.counters.uncountRun(r)
	delete(x.ended, r)
	if x.byIdempotencyKey[r.idempotencyKey()] == r {
		delete(x.byIdempotencyKey, r.idempotencyKey())
	}
	o := x.ensureOwner(r.owner())
	x.byOwnerAndStart.Delete(r)
	o.runs--
	for _, a := range r.openAsks {
		x.removeAskLocked(o, a)
	}
	if !state.Ended() {
		o.active--
	}
	if state == Running && !r.inactive {
		x.workingRuns--
	}
	o.notifyWatchers()
	x.removeUnusedOwner(r.owner(), o)
}
