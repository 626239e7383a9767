package jetstream

import (
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// recentCache caches the messages of runs that started recently. Most runs are
// followed from their start, and those followers then read nothing from the
// files. The server searches for a run's next message among those of all other
// runs, so reads get slower the more runs are active, and slow reads keep more
// runs active.
type recentCache struct {
	mu           sync.Mutex
	newer, older map[string]*recentRun
	bytes        int // of newer
}

// recentRun holds all messages of a run.
type recentRun struct {
	tail     runTail
	payloads [][]byte
	bytes    int
}

// Limits of each of the two generations, and of each run. A larger run is removed.
const (
	maxGenerationBytes = 4 << 20
	maxRecentRunBytes  = 256 << 10
)

// add adds a message that the server has acknowledged.
func (c *recentCache) add(a *pendingAppend) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.findLocked(a.run)
	c.removeLocked(a.run)
	switch {
	case a.firstSeq == 1:
		r = &recentRun{}
	case r == nil || r.tail.lastSeq+1 != a.firstSeq || r.bytes+len(a.payload) > maxRecentRunBytes:
		return
	}
	r = &recentRun{a.tail, append(r.payloads, a.payload), r.bytes + len(a.payload)}
	if c.newer == nil || c.bytes+r.bytes > maxGenerationBytes {
		c.newer, c.older, c.bytes = make(map[string]*recentRun), c.newer, 0
	}
	c.newer[a.run] = r
	c.bytes += r.bytes
}

// findLocked returns a run, or nil. Callers hold mu.
func (c *recentCache) findLocked(run string) *recentRun {
	if r := c.newer[run]; r != nil {
		return r
	}
	return c.older[run]
}

// removeLocked removes a run. Callers hold mu.
func (c *recentCache) removeLocked(run string) {
	if r := c.newer[run]; r != nil {
		c.bytes -= r.bytes
		delete(c.newer, run)
	}
	delete(c.older, run)
}

func (c *recentCache) remove(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeLocked(run)
}

func (c *recentCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newer, c.older, c.bytes = nil, nil, 0
}

// tailOf returns the end of a run. It reports whether the run is in the cache.
func (c *recentCache) tailOf(run string) (t runTail, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.findLocked(run); r != nil {
		return r.tail, true
	}
	return runTail{}, false
}

// entriesAfter returns a run's entries after an ordinal. It reports whether the
// run is in the cache.
func (c *recentCache) entriesAfter(run string, entriesAfter uint64) (entries []runlog.Entry, ok bool) {
	c.mu.Lock()
	r := c.findLocked(run)
	c.mu.Unlock()
	if r == nil {
		return nil, false
	}
	for _, payload := range r.payloads {
		h, err := decodeHead(payload)
		if err == nil && h.lastSeq > entriesAfter {
			entries, err = h.decodeEntries(entries, entriesAfter)
		}
		if err != nil {
			return nil, false // reading the files reports the error
		}
	}
	return entries, true
}
