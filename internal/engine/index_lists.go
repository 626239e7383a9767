package engine

import (
	"iter"

	"github.com/photon-beam/beam/internal/runlog"
)

// runsNewestFirst yields the runs of some owners, newest first.
func (x *index) runsNewestFirst(owners []string) iter.Seq[*trackedRun] {
	return mergeSorted(len(owners), compareStartDescending, func(i int, after *trackedRun) []*trackedRun {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil { // start at the upper bound of this owner's runs
			after = &trackedRun{started: runlog.Started{Owner: owners[i] + "\x00"}}
		}
		return copyPage(x.byOwnerAndStart.DescendLessOrEqual, after, func(r *trackedRun) bool { return r.owner() == owners[i] })
	})
}

// asksOldestFirst yields the open questions of some owners, oldest first.
func (x *index) asksOldestFirst(owners []string) iter.Seq[*openAsk] {
	return mergeSorted(len(owners), compareAsked, func(i int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &trackedRun{started: runlog.Started{Owner: owners[i]}}}
		}
		return copyPage(x.byOwnerAndAsked.AscendGreaterOrEqual, after, func(a *openAsk) bool { return a.run.owner() == owners[i] })
	})
}

// allAsks yields the open questions of all owners.
func (x *index) allAsks() iter.Seq[*openAsk] {
	return mergeSorted(1, compareAsked, func(_ int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &trackedRun{}}
		}
		return copyPage(x.byOwnerAndAsked.AscendGreaterOrEqual, after, func(*openAsk) bool { return true })
	})
}

// countOpenAsks returns the number of one owner's open questions.
func (x *index) countOpenAsks(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o := x.owners[name]; o != nil {
		return o.openAsks
	}
	return 0
}

// addWatcher returns a watcher of all the owners and a function that removes it.
func (x *index) addWatcher(owners []string) (w watcher, remove func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w = make(watcher, 1)
	for _, name := range owners {
		o := x.ensureOwner(name)
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
				x.removeUnusedOwner(name, o)
			}
		}
	}
}

// removeUnusedOwner removes an owner that has no runs and no watchers. Callers
// hold mu.
func (x *index) removeUnusedOwner(name string, o *owner) {
	if o.runs == 0 && len(o.watchers) == 0 && x.owners[name] == o {
		delete(x.owners, name)
	}
}
