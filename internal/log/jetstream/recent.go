package jetstream

import (
	"sync"

	"github.com/photon-beam/beam/internal/log"
)

// recent keeps the messages of runs that began of late. Most runs are followed
// from the moment they begin, and such followers read nothing back from the
// files: the engine looks for a run's next message among those of all others in
// between, so that reading takes the longer the more runs go on at once, and more
// of them go on at once the longer it takes.
type recent struct {
	mu           sync.Mutex
	newer, older map[string]*young
	bytes        int // of newer
}

// young is a run from its beginning to its end so far.
type young struct {
	tail     tail
	payloads [][]byte
	bytes    int
}

// So many bytes make a generation, of which there are two; and a run that has
// more is read from the files.
const (
	recentBytes = 4 << 20
	youngBytes  = 256 << 10
)

// add takes in a message that the stream has.
func (c *recent) add(p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	y := c.find(p.run)
	c.drop(p.run)
	switch {
	case p.first == 1:
		y = &young{}
	case y == nil || y.tail.last+1 != p.first || y.bytes+len(p.payload) > youngBytes:
		return
	}
	y = &young{p.tail, append(y.payloads, p.payload), y.bytes + len(p.payload)}
	if c.newer == nil || c.bytes+y.bytes > recentBytes {
		c.newer, c.older, c.bytes = make(map[string]*young), c.newer, 0
	}
	c.newer[p.run] = y
	c.bytes += y.bytes
}

// find: callers hold mu.
func (c *recent) find(run string) *young {
	if y := c.newer[run]; y != nil {
		return y
	}
	return c.older[run]
}

// drop: callers hold mu.
func (c *recent) drop(run string) {
	if y := c.newer[run]; y != nil {
		c.bytes -= y.bytes
		delete(c.newer, run)
	}
	delete(c.older, run)
}

func (c *recent) forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(run)
}

func (c *recent) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newer, c.older, c.bytes = nil, nil, 0
}

// tail is where a run ends, if it is here.
func (c *recent) tail(run string) (t tail, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if y := c.find(run); y != nil {
		return y.tail, true
	}
	return tail{}, false
}

// after are a run's entries after an ordinal, if the run is here.
func (c *recent) after(run string, after uint64) (all []log.Entry, ok bool) {
	c.mu.Lock()
	y := c.find(run)
	c.mu.Unlock()
	if y == nil {
		return nil, false
	}
	for _, payload := range y.payloads {
		h, err := decodeHead(payload)
		if err == nil && h.last > after {
			all, err = h.decode(all, after)
		}
		if err != nil {
			return nil, false // our own encoding; the files tell what is wrong
		}
	}
	return all, true
}
