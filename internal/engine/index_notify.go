package engine

import (
	"context"

	"github.com/photon-beam/beam/generators"
)

// A watcher has a token if something has changed since the last receive.
type watcher chan struct{}

// notifyWatchers notifies the owner's watchers. Callers hold the index's mu.
func (o *owner) notifyWatchers() {
	for w := range o.watchers {
		w.notify()
	}
}

func (w watcher) notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// addWatcher returns a watcher of the callers' lists and a function that removes it.
func (x *index) addWatcher(callers ...generators.Caller) (w watcher, remove func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w = make(watcher, 1)
	x.watching[w] = callers
	for _, c := range callers {
		x.watchedOwner(c).addWatcher(w)
	}
	return w, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.watching, w)
		for _, c := range callers {
			o := x.watchedOwner(c)
			delete(o.watchers, w)
			x.removeUnusedOwner(c.ID, o)
		}
	}
}

// watchedOwner returns the owner whose watchers are notified of changes in a caller's
// lists. Callers hold mu.
func (x *index) watchedOwner(c generators.Caller) *owner {
	if usesAllRuns(c) {
		return &x.everyone
	}
	return x.ensureOwner(c.ID)
}

func (o *owner) addWatcher(w watcher) {
	if o.watchers == nil {
		o.watchers = make(map[watcher]struct{})
	}
	o.watchers[w] = struct{}{}
}

// removeUnusedOwner removes an owner that has no runs and no watchers. Callers
// hold mu.
func (x *index) removeUnusedOwner(name string, o *owner) {
	if o.runs == 0 && len(o.watchers) == 0 && x.owners[name] == o {
		delete(x.owners, name)
	}
}

// markInactive excludes an unfinished run from the working runs, because it can't
// continue in this process, or not yet. Callers hold r.mu.
func (x *index) markInactive(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.inactive {
		return
	}
	r.inactive = true
	if r.State == Running {
		x.workingRuns--
	}
	x.recount(r)
	x.notifyIdle()
}

// markActive undoes markInactive. Callers hold r.mu.
func (x *index) markActive(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !r.inactive {
		return
	}
	r.inactive = false
	if r.State == Running {
		x.workingRuns++
	}
	x.recount(r)
}

// notifyIdle wakes waitIdle if no run is working. Callers hold mu.
func (x *index) notifyIdle() {
	if x.workingRuns == 0 && x.allIdle != nil {
		close(x.allIdle)
		x.allIdle = nil
	}
}

// waitIdle waits until no run is working or ctx ends.
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
