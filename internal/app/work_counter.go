package app

import (
	"context"
	"sync"
)

// A workCounter counts what is in progress until it is closed. The zero value has
// nothing. Its methods may be called from several goroutines.
type workCounter struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when nothing is in progress; nil until close is called
}

// begin counts one more. It reports false if the counter is closed.
func (c *workCounter) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.n++
	return true
}

// end counts one less.
func (c *workCounter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.closed && c.n == 0 {
		close(c.idle)
	}
}

// close refuses what would begin, and waits until what is in progress has ended or ctx
// is done. It must be called only once.
func (c *workCounter) close(ctx context.Context) error {
	c.mu.Lock()
	c.closed, c.idle = true, make(chan struct{})
	if c.n == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
