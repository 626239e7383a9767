package upstream

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// errCallTimeout is the cause of the end of a call that took too long.
var errCallTimeout = fmt.Errorf("the call took too long")

// A callClock ends a call that works longer than the upstream's limit. It stands still
// while a question is open.
type callClock struct {
	limit  time.Duration // 0 for none
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	left    time.Duration
	started time.Time // when it last began to run
	open    int       // questions
	timer   *time.Timer
}

// newCallClock returns a clock that runs, and the context that it ends.
func newCallClock(ctx context.Context, limit time.Duration) (*callClock, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &callClock{limit: limit, left: limit, ctx: ctx, cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start()
	return c, ctx
}

// start starts the timer. The caller holds mu.
func (c *callClock) start() {
	if c.limit == 0 {
		return
	}
	c.started = time.Now()
	c.timer = time.AfterFunc(c.left, func() {
		c.cancel(fmt.Errorf("%w: more than %s, its limit", errCallTimeout, c.limit))
	})
}

// pause stops the clock while a question is open.
func (c *callClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.open == 1 && c.timer != nil {
		c.timer.Stop()
		c.left = max(0, c.left-time.Since(c.started))
	}
}

// resume starts the clock again once no question is open.
func (c *callClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 && c.ctx.Err() == nil {
		c.start()
	}
}

// stop stops the clock for good, and ends its context.
func (c *callClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.cancel(context.Canceled)
}
