package upstream

import (
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A withdrawer takes a question back, whether it has been yielded already or not.
type withdrawer struct {
	yield generators.Yield

	mu     sync.Mutex
	call   *driver.Call // once it has been yielded
	reason string       // why it was taken back before
}

// yieldCall is the Yield to ask with.
func (w *withdrawer) yieldCall(e generators.Event) bool {
	more := w.yield(e)
	c, ok := driver.CallOf(e)
	if !ok {
		return more
	}
	w.mu.Lock()
	w.call = c
	reason := w.reason
	w.mu.Unlock()
	if reason != "" {
		c.Withdraw(reason)
	}
	return more
}

// withdraw takes the question back, unless it has been answered.
func (w *withdrawer) withdraw(reason string) {
	w.mu.Lock()
	c := w.call
	w.reason = reason
	w.mu.Unlock()
	if c != nil {
		c.Withdraw(reason)
	}
}
