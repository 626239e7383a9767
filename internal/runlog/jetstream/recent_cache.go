package jetstream

import (
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// recentCache keeps the messages of runs that began of late. Most runs are followed
// from the moment they begin, and such followers read nothing back from the
// files: the engine looks for a run's next message among those of all others in
// between, so that reading takes the longer the more runs go on at once, and more
// of them go on at once the longer it takes.
type recentCache struct {
	mu           sync.Mutex
	newer, older map[string]*recentRun
	bytes        int // of newer
}

// recentRun is a run from its beginning to its end so far.
type recentRun struct {
	tail     runTail
	payloads [][]byte
	bytes    int
}

// So many bytes make a generation, of which there are two; and a run that has
// more is read from the files.
const (
	maxGenerationBytes = 4 << 20
	maxRecentRunBytes  = 256 << 10
)

// add takes in a message that the stream has.
func (c *recentCache) add(p *pendingAppend) {
	c.mu.Lock()
	defer c.mu.Unlock()
	y := c.find(p.run)
	c.removeLocked(p.run)
	switch {
	case p.firstSeq == 1:
		y = &recentRun{}
	case y == nil || y.tail.lastSeq+1 != p.firstSeq || y.bytes+len(p.payload) > maxRecentRunBytes:
		return
	}
	y = &recentRun{p.tail, append(y.payloads, p.payload), y.bytes + len(p.payload)}
	if c.newer == nil || c.bytes+y.bytes > maxGenerationBytes {
		c.newer, c.older, c.bytes = make(map[string]*recentRun), c.newer, 0
	}
	c.newer[p.run] = y
	c.bytes += y.bytes
}

// find: callers hold mu.
func (c *recentCache) find(run string) *recentRun {
	if y := c.newer[run]; y != nil {
		return y
	}
	return c.older[run]
}

// removeLocked: callers hold mu.
func (c *recentCache) removeLocked(run string) {
	if y := c.newer[run]; y != nil {
		c.bytes -= y.bytes
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

// tailOf is where a run ends, if it is here.
func (c *recentCache) tailOf(run string) (t runTail, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if y := c.find(run); y != nil {
		return y.tail, true
	}
	return runTail{}, false
}

// after are a run's entries after an ordinal, if the run is here.
func (c *recentCache) after(run string, after uint64) (all []runlog.Entry, ok bool) {
	c.mu.Lock()
	y := c.find(run)
	c.mu.Unlock()
	if y == nil {
		return nil, false
	}
	for _, payload := range y.payloads {
		h, err := decodeHead(payload)
		if err == nil && h.lastSeq > after {
			all, err = h.decodeEntries(all, after)
		}
		if err != nil {
			return nil, false // our own encoding; the files tell what is wrong
		}
	}
	return all, true
}
