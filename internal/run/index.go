package run

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
	mu     sync.RWMutex
	runs   map[string]*record
	listed *btree.BTreeG[*record]  // the same; see byBirth
	asks   *btree.BTreeG[*openAsk] // the open questions; see bySince
	ended  map[*record]struct{}    // the runs that have
	owners map[string]*owner
	keys   map[idempotencyKey]*record
	closed bool // no more runs are taken
	// idle is closed when no run works; nil if nobody waits for it.
	working int
	idle    chan struct{}
}

// owner counts one owner's runs, those that haven't ended, and open questions.
type owner struct {
	runs, active, asks int
	// watchers are told of changes in what lists show.
	watchers map[watcher]struct{}
}

// A watcher holds one token if something has changed since it was last read.
type watcher chan struct{}

func newIndex() *index {
	return &index{
		runs:   make(map[string]*record),
		listed: btree.NewG(degree, func(a, b *record) bool { return byBirth(a, b) < 0 }),
		asks:   btree.NewG(degree, func(a, b *openAsk) bool { return bySince(a, b) < 0 }),
		ended:  make(map[*record]struct{}),
		owners: make(map[string]*owner),
		keys:   make(map[idempotencyKey]*record),
	}
}

// add takes in a run that is about to start. If its idempotency key is taken,
// it returns the run that has it.
func (x *index) add(r *record, limit int) (*record, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosing
	}
	if first := x.keys[r.key()]; first != nil {
		return first, nil
	}
	o := x.owner(r.owner())
	if limit > 0 && o.active >= limit {
		return nil, ErrTooMany
	}
	if r.started.Idempotency != "" {
		x.keys[r.key()] = r
	}
	x.enter(r)
	x.listed.ReplaceOrInsert(r)
	return r, nil
}

// enter takes in a run, but for the lists. Callers hold mu.
func (x *index) enter(r *record) {
	o := x.owner(r.owner())
	x.runs[r.id] = r
	o.runs++
	o.asks += len(r.asks)
	if r.state.Ended() {
		x.ended[r] = struct{}{}
		return
	}
	o.active++
	if r.state == Running {
		x.working++
	}
}

// load takes in runs that were read from the log, and nothing has come before.
// If an idempotency key was recorded twice, the first run has it.
func (x *index) load(runs []*record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range runs {
		x.enter(r)
		if first := x.keys[r.key()]; r.started.Idempotency != "" && (first == nil || older(r, first) < 0) {
			x.keys[r.key()] = r
		}
		x.listed.ReplaceOrInsert(r)
		for _, a := range r.asks {
			x.asks.ReplaceOrInsert(a)
		}
	}
}

// close takes no more runs.
func (x *index) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

func (x *index) owner(name string) *owner {
	o := x.owners[name]
	if o == nil {
		o = &owner{}
		x.owners[name] = o
	}
	return o
}

func (x *index) get(id string) *record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.runs[id]
}

func (x *index) all() []*record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]*record, 0, len(x.runs))
	for _, r := range x.runs {
		all = append(all, r)
	}
	return all
}

// over are the runs that have ended.
func (x *index) over() []*record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Collect(maps.Keys(x.ended))
}

// asked takes in a question of a run. Callers hold r.mu.
func (x *index) asked(r *record, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asks.ReplaceOrInsert(a)
	x.owner(r.owner()).asks++
}

// settled takes a question out. Callers hold r.mu.
func (x *index) settled(r *record, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answered(x.owner(r.owner()), a)
}

// answered: callers hold mu.
func (x *index) answered(o *owner, a *openAsk) {
	if _, there := x.asks.Delete(a); there {
		o.asks--
	}
}

// moved counts a change of a run's state, and wakes those who watch its owner.
func (x *index) moved(r *record, from, to State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owner(r.owner())
	if to.Ended() && !from.Ended() {
		o.active--
		x.ended[r] = struct{}{}
	}
	if from == Running && to != Running && !r.resting {
		x.working--
	} else if from != Running && to == Running && !r.resting {
		x.working++
	}
	x.quieten()
	o.wake()
}

// rest takes a run out of those that work, for good: the engine closes before it
// could be taken up. Callers hold r.mu.
func (x *index) rest(r *record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.resting {
		return
	}
	r.resting = true
	if r.state == Running {
		x.working--
	}
	x.quieten()
}

// quieten tells who waits for it that no run works. Callers hold mu.
func (x *index) quieten() {
	if x.working == 0 && x.idle != nil {
		close(x.idle)
		x.idle = nil
	}
}

func (o *owner) wake() {
	for w := range o.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// quiet waits until no run works, or ctx ends.
func (x *index) quiet(ctx context.Context) {
	x.mu.Lock()
	if x.working == 0 {
		x.mu.Unlock()
		return
	}
	if x.idle == nil {
		x.idle = make(chan struct{})
	}
	idle := x.idle
	x.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// remove forgets a run. Callers hold r.mu.
func (x *index) remove(r *record) {
	state := r.state
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.runs[r.id] != r {
		return
	}
	delete(x.runs, r.id)
	r.engine.tally.removed(r)
	delete(x.ended, r)
	if x.keys[r.key()] == r {
		delete(x.keys, r.key())
	}
	o := x.owner(r.owner())
	x.listed.Delete(r)
	o.runs--
	for _, a := range r.asks {
		x.answered(o, a)
	}
	if !state.Ended() {
		o.active--
	}
	if state == Running && !r.resting {
		x.working--
	}
	o.wake()
	x.tidy(r.owner(), o)
}
