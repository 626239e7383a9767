package run

import (
	"context"
	"iter"
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

// owner is one owner's runs, in the order of their start, and open questions,
// in the order in which they were asked.
type owner struct {
	runs   []*record
	asks   []asking
	active int
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
	o.runs = insert(o.runs, r, byBirth)
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

// asked takes in a question of a run. Callers hold r.mu.
func (x *index) asked(r *record, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owner(r.owner)
	o.asks = insert(o.asks, asking{r, a}, bySince)
}

// settled takes a question out. Callers hold r.mu.
func (x *index) settled(r *record, a *openAsk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owner(r.owner)
	o.asks = remove(o.asks, asking{r, a}, bySince)
}

// moved counts a change of a run's state, and wakes those who watch its owner.
func (x *index) moved(r *record, from, to State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owner(r.owner)
	if to.Ended() && !from.Ended() {
		o.active--
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
	if key := (idempotencyKey{r.owner, r.started.Idempotency}); x.keys[key] == r {
		delete(x.keys, key)
	}
	o := x.owner(r.owner)
	o.runs = remove(o.runs, r, byBirth)
	for _, a := range r.asks {
		o.asks = remove(o.asks, asking{r, a}, bySince)
	}
	if !state.Ended() {
		o.active--
	}
	if state == Running && !r.resting {
		x.working--
	}
	o.wake()
	x.tidy(r.owner, o)
}

// newest yields the runs of some owners, newest first.
func (x *index) newest(owners []string) iter.Seq[*record] {
	newerFirst := func(a, b *record) int { return byBirth(b, a) }
	return merged(len(owners), newerFirst, func(i int, after **record) []*record {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if o := x.owners[owners[i]]; o != nil {
			return preceding(o.runs, after, byBirth)
		}
		return nil
	})
}

// inbox yields the open questions of some owners, oldest first.
func (x *index) inbox(owners []string) iter.Seq[asking] {
	return merged(len(owners), bySince, func(i int, after *asking) []asking {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if o := x.owners[owners[i]]; o != nil {
			return following(o.asks, after, bySince)
		}
		return nil
	})
}

func (x *index) openAsks(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o := x.owners[name]; o != nil {
		return len(o.asks)
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
