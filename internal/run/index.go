package run

import (
	"context"
	"slices"
	"sync"
)

// The index is the projection of all logs: every run by id, by owner and by
// idempotency key.
type index struct {
	mu     sync.RWMutex
	runs   map[string]*record
	owners map[string]*owner
	keys   map[idempotencyKey]*record
	closed bool // no more runs are taken
	// idle is closed when no run works; nil if nobody waits for it.
	working int
	idle    chan struct{}
}

// owner is one owner's runs, in the order of their start.
type owner struct {
	runs   []*record
	active int
	asks   int
	// watchers are told of changes in what lists show.
	watchers map[watcher]struct{}
}

// A watcher holds one token if something has changed since it was last read.
type watcher chan struct{}

type idempotencyKey struct{ owner, key string }

func newIndex() *index {
	return &index{
		runs:   make(map[string]*record),
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
	key := idempotencyKey{r.owner, r.started.Idempotency}
	if first := x.keys[key]; key.key != "" && first != nil {
		return first, nil
	}
	o := x.owner(r.owner)
	if limit > 0 && o.active >= limit {
		return nil, ErrTooMany
	}
	if key.key != "" {
		x.keys[key] = r
	}
	x.runs[r.id] = r
	o.runs = append(o.runs, r)
	o.active++
	x.working++
	return r, nil
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

// moved counts a change of a run's state or of its open questions, and wakes
// those who watch its owner.
func (x *index) moved(r *record, from, to State, asks int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owner(r.owner)
	o.asks += asks
	if to.Ended() && !from.Ended() {
		o.active--
	}
	if from == Running && to != Running {
		x.working--
	} else if from != Running && to == Running {
		x.working++
	}
	if x.working == 0 && x.idle != nil {
		close(x.idle)
		x.idle = nil
	}
	o.wake()
}

func (o *owner) wake() {
	for w := range o.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// settled waits until no run works, or ctx ends.
func (x *index) settled(ctx context.Context) {
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
	state, asks := r.state, len(r.asks)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.runs[r.id] != r {
		return
	}
	delete(x.runs, r.id)
	if key := (idempotencyKey{r.owner, r.started.Idempotency}); x.keys[key] == r {
		delete(x.keys, key)
	}
	o := x.owner(r.owner)
	if i := slices.Index(o.runs, r); i >= 0 {
		o.runs = slices.Delete(o.runs, i, i+1)
	}
	o.asks -= asks
	if !state.Ended() {
		o.active--
	}
	if state == Running {
		x.working--
	}
	o.wake()
	x.tidy(r.owner, o)
}

// ofOwner returns a copy of an owner's runs, oldest first.
func (x *index) ofOwner(name string) []*record {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o := x.owners[name]; o != nil {
		return slices.Clone(o.runs)
	}
	return nil
}

func (x *index) openAsks(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o := x.owners[name]; o != nil {
		return o.asks
	}
	return 0
}

// watch returns a watcher of all the owners, and what ends it.
func (x *index) watch(owners []string) (w watcher, end func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w = make(watcher, 1)
	for _, name := range owners {
		o := x.owner(name)
		if o.watchers == nil {
			o.watchers = make(map[watcher]struct{})
		}
		o.watchers[w] = struct{}{}
	}
	return w, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, name := range owners {
			if o := x.owners[name]; o != nil {
				delete(o.watchers, w)
				x.tidy(name, o)
			}
		}
	}
}

// tidy forgets an owner of nothing.
func (x *index) tidy(name string, o *owner) {
	if len(o.runs) == 0 && len(o.watchers) == 0 && x.owners[name] == o {
		delete(x.owners, name)
	}
}
