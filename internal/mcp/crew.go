package mcp

import (
	"sync"
)

// A crew does short work that waits for nobody, in order of arrival. What many
// goroutines would each need a stack for, a few do on theirs.
type crew struct {
	pipe *pipe // that the work ends in

	mu    sync.Mutex
	queue []func()
	idle  int // members that wait to be called
	call  *sync.Cond
	ended bool
	all   sync.WaitGroup
}

// crewSize is how many work at once. The work is short, and ends in one pipe:
// more hands would pass it to and fro between processors, which costs more than
// it takes.
const crewSize = 1

func newCrew(p *pipe) *crew {
	c := &crew{pipe: p}
	c.call = sync.NewCond(&c.mu)
	for range crewSize {
		c.all.Go(c.work)
	}
	return c
}

// do has f done soon. It never blocks. After the end nothing is taken on any
// more, and it returns false.
func (c *crew) do(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.queue = append(c.queue, f)
	if c.idle > 0 {
		c.call.Signal()
	}
	return true
}

func (c *crew) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.queue) == 0 {
			if c.ended {
				return
			}
			c.idle++
			c.call.Wait()
			c.idle--
		}
		f := c.queue[0]
		c.queue[0] = nil
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
		c.mu.Unlock()
		f()
		c.mu.Lock()
	}
}

// end has the members go home when they have done what they took on; wait for
// that with all.
func (c *crew) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.call.Broadcast()
}
