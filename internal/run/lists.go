package run

import (
	"iter"

	"github.com/photon-beam/beam/internal/log"
)

// newest yields the runs of some owners, newest first.
func (x *index) newest(owners []string) iter.Seq[*record] {
	return merged(len(owners), newer, func(i int, after *record) []*record {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil { // from the first that could be behind this owner's
			after = &record{started: log.Started{Owner: owners[i] + "\x00"}}
		}
		return page(x.listed.DescendLessOrEqual, after, func(r *record) bool { return r.owner() == owners[i] })
	})
}

// inbox yields the open questions of some owners, oldest first.
func (x *index) inbox(owners []string) iter.Seq[*openAsk] {
	return merged(len(owners), asked, func(i int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &record{started: log.Started{Owner: owners[i]}}}
		}
		return page(x.asks.AscendGreaterOrEqual, after, func(a *openAsk) bool { return a.run.owner() == owners[i] })
	})
}

// allAsks yields the open questions of all owners.
func (x *index) allAsks() iter.Seq[*openAsk] {
	return merged(1, asked, func(_ int, after *openAsk) []*openAsk {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if after == nil {
			after = &openAsk{run: &record{}}
		}
		return page(x.asks.AscendGreaterOrEqual, after, func(*openAsk) bool { return true })
	})
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
	if o.runs == 0 && len(o.watchers) == 0 && x.owners[name] == o {
		delete(x.owners, name)
	}
}
