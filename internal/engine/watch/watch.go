// Package watch tells who shows lists of runs and questions that they have changed.
package watch

import (
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
)

// A watcher has a token if something has changed since the last receive.
type watcher chan struct{}

func (w watcher) notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// Watchers are notified when the lists of their callers change. The methods may be called from
// several goroutines. The zero value has none.
type Watchers struct {
	mu      sync.Mutex // guards what follows
	callers map[watcher][]generators.Caller
	owners  map[string]map[watcher]struct{} // by whose runs they list; "" for all
}

// Add returns a channel that has a token when the lists of callers may have changed, and a
// function that removes it. ownedBy returns the owner whose runs a caller lists; "" for all.
func (x *Watchers) Add(callers []generators.Caller, ownedBy func(generators.Caller) string) (changed <-chan struct{}, remove func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := make(watcher, 1)
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

// Notify notifies the watchers of an owner's lists, and those of all owners'.
func (x *Watchers) Notify(owner string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range []string{owner, ""} {
		for w := range x.owners[name] {
			w.notify()
		}
	}
}

// NotifyAll notifies all watchers.
func (x *Watchers) NotifyAll() { x.NotifyWhom(func(generators.Caller) bool { return true }) }

// NotifyWhom notifies the watchers of callers for whom concerns returns true.
func (x *Watchers) NotifyWhom(concerns func(generators.Caller) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for w, callers := range x.callers {
		if slices.ContainsFunc(callers, concerns) {
			w.notify()
		}
	}
}
