package engine

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlist"
)

// A watcher has a token if something has changed since the last receive.
type watcher chan struct{}

func (w watcher) notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// watchers are notified when the lists of their callers change. The methods may be called from
// several goroutines. The zero value has none.
type watchers struct {
	mu      sync.Mutex
	callers map[watcher][]generators.Caller
	owners  map[string]map[watcher]struct{} // by whose runs they list; see ownedBy
}

// Watch yields once immediately and then after every change of the callers' lists,
// until ctx ends. Changes during the loop's body count as one.
func (l lists) Watch(ctx context.Context, callers ...generators.Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, remove := l.watchers.add(callers)
		defer remove()
		for yield(struct{}{}) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// add returns a watcher of the callers' lists and a function that removes it.
func (x *watchers) add(callers []generators.Caller) (w watcher, remove func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w = make(watcher, 1)
	if x.callers == nil {
		x.callers, x.owners = make(map[watcher][]generators.Caller), make(map[string]map[watcher]struct{})
	}
	x.callers[w] = callers
	for _, c := range callers {
		owner := ownedBy(c)
		if x.owners[owner] == nil {
			x.owners[owner] = make(map[watcher]struct{})
		}
		x.owners[owner][w] = struct{}{}
	}
	return w, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.callers, w)
		for _, c := range callers {
			owner := ownedBy(c)
			if delete(x.owners[owner], w); len(x.owners[owner]) == 0 {
				delete(x.owners, owner)
			}
		}
	}
}

// notify notifies the watchers of an owner's lists, and those of all owners'.
func (x *watchers) notify(owner string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range []string{owner, ""} {
		for w := range x.owners[name] {
			w.notify()
		}
	}
}

// notifyAudience notifies the watchers of those who may answer a question that says so.
func (x *watchers) notifyAudience(a runlist.Ask) {
	if a.Audience == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for w, callers := range x.callers {
		if slices.ContainsFunc(callers, func(c generators.Caller) bool { return admits(a, c) }) {
			w.notify()
		}
	}
}
