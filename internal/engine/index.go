package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"
)

// The index is the projection of all logs: every run by id, by owner and by
// idempotency key.
type index struct {
	mu               sync.RWMutex
	byID             map[string]*trackedRun
	byOwnerAndStart  *btree.BTreeG[*trackedRun] // the same; see byBirth
	byOwnerAndAsked  *btree.BTreeG[*openAsk]    // the open questions; see bySince
	ended            map[*trackedRun]struct{}   // the runs that have
	owners           map[string]*owner
	byIdempotencyKey map[idempotencyKey]*trackedRun
	closed           bool // no more runs are taken
	// idle is closed when no run works; nil if nobody waits for it.
	workingRuns int
	allIdle     chan struct{}
}

// owner counts one owner's runs, those that haven't ended, and open questions.
type owner struct {
	runs, active, openAsks int
	// watchers are told of changes in what lists show.
	watchers map[watcher]struct{}
}

// A watcher holds one token if something has changed since it was last read.
type watcher chan struct{}

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

// addRun takes in a run that is about to start. If its idempotency key is taken,
// it returns the run that has it.
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

// insertRun takes in a run, but for the lists. Callers hold mu.
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

// loadRuns takes in runs that were read from the log, and nothing has come before.
// If an idempotency key was recorded twice, the first run has it.
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

// stopAccepting takes no more runs.
func (x *index) stopAccepting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

func (x *index) ensureOwner(name string) *owner {
	o := x.owners[name]
	if o == nil {
		o = &owner{}
		x.owners[name] = o
	}
	return o
}

func (x *index) lookup(id string) *trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byID[id]
}

func (x *index) allRuns() []*trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]*trackedRun, 0, len(x.byID))
	for _, r := range x.byID {
		all = append(all, r)
	}
	return all
}

// endedRuns are the runs that have ended.
func (x *index) endedRuns() []*trackedRun {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Collect(maps.Keys(x.ended))
}

// addAsk takes in a question of a run. Callers hold r.mu.
func (x *index) addAsk(r *trackedRun, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byOwnerAndAsked.ReplaceOrInsert(a)
	x.ensureOwner(r.owner()).openAsks++
}

// removeAsk takes a question out. Callers hold r.mu.
func (x *index) removeAsk(r *trackedRun, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.removeAskLocked(x.ensureOwner(r.owner()), a)
}

// removeAskLocked: callers hold mu.
func (x *index) removeAskLocked(o *owner, a *openAsk) {
	if _, there := x.byOwnerAndAsked.Delete(a); there {
		o.openAsks--
	}
}

// updateState counts a change of a run's state, and wakes those who watch its owner.
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

// markInactive takes a run out of those that work, for good: the engine closes before it
// could be taken up. Callers hold r.mu.
func (x *index) markInactive(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.inactive {
		return
	}
	r.inactive = true
	if r.state == Running {
		x.workingRuns--
	}
	x.notifyIdle()
}

// notifyIdle tells who waits for it that no run works. Callers hold mu.
func (x *index) notifyIdle() {
	if x.workingRuns == 0 && x.allIdle != nil {
		close(x.allIdle)
		x.allIdle = nil
	}
}

func (o *owner) notifyWatchers() {
	for w := range o.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// waitIdle waits until no run works, or ctx ends.
func (x *index) waitIdle(ctx context.Context) {
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

// removeRun forgets a run. Callers hold r.mu.
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
