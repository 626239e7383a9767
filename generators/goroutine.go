package generators

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/call"
)

// Go runs fn in a goroutine of the run. The goroutine's context ends when the
// generator returns or the run stops, the run doesn't end before the goroutine
// returns, and a panic in it ends the run rather than the process. Goroutines that
// yield calls must be started with Go. It returns false, and starts no goroutine,
// if the run has stopped.
//
// What the goroutine yields, it yields with the yield that fn receives: that is how a
// replay of a durable run recognizes each goroutine's events and calls, in whatever
// order the goroutines run then. Each goroutine must start its own goroutines in the same
// order whenever it runs. Keys of calls should be different in goroutines that run at the
// same time.
//
// While a goroutine's question is open, Beam assumes that the generator itself waits
// for its goroutines, unless it has asked a question of its own in the meantime. A
// durable run may then be evicted until the answer arrives. Do work that must
// continue while a question is open in a goroutine of Go or in a [Step].
func Go(yield Yield, fn func(ctx context.Context, yield Yield)) bool {
	return yield(&goEvent{fn: fn})
}

// goEvent passes a function of Go through a Yield to its run.
type goEvent struct {
	fn func(context.Context, Yield)
	// generatorWaits means that the generator itself waits while fn runs, and yields
	// for it, so that its calls have the same order in every run.
	generatorWaits bool
}

func (*goEvent) event() {}

// A goroutine is the generator itself or one that [Go] has started. The run's mu guards
// it, apart from its name.
type goroutine struct {
	name     string // empty for the generator itself
	children int    // goroutines that it has started
	// started and returned order the beginnings and ends of the run's goroutines; returned is
	// 0 while it runs.
	started, returned int
}

// newGoroutine returns the next goroutine that parent starts. What the function of a step
// starts counts as the goroutine of the step, because a replay doesn't start it again. The
// caller holds r.mu.
func (r *run) newGoroutine(parent *goroutine) *goroutine {
	parent.children++
	name := strconv.Itoa(parent.children)
	if parent.name != "" {
		name = parent.name + "." + name
	}
	r.clock++
	g := &goroutine{name: name, started: r.clock}
	if r.goroutines == nil {
		r.goroutines = make(map[string]*goroutine)
	}
	r.goroutines[name] = g
	return g
}

// Goroutine implements [call.Run].
func (r *run) Goroutine() string { return r.current.name }

// RanTogether implements [call.Run].
func (r *run) RanTogether(a, b string) bool {
	began, returned := r.goroutines[a], r.goroutines[b]
	return began == nil || returned == nil || returned.returned == 0 || began.started < returned.returned
}

func (r *run) startGoroutine(e *goEvent, parent *goroutine, sentInStep bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx.Err() != nil {
		return false
	}
	inStep := r.isNested(sentInStep)
	var counted *waiterCount
	if !e.generatorWaits {
		counted = r.addGoroutine()
	}
	g := parent
	if !e.generatorWaits && !inStep {
		g = r.newGoroutine(parent)
	}
	yield := func(e Event) bool { return r.yieldFrom(e, g, false) }
	r.children.Go(func() {
		defer counted.removeGoroutine()
		if g != parent {
			defer r.endGoroutine(g)
		}
		defer func() {
			if v := recover(); v != nil {
				r.recordPanic(v)
			}
		}()
		if inStep {
			callStepFunction(func() { e.fn(r.ctx, yield) })
			return
		}
		e.fn(r.ctx, yield)
	})
	return true
}

func (r *run) endGoroutine(g *goroutine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	g.returned = r.clock
}

func (r *run) recordPanic(v any) {
	p := &call.PanicError{Value: v, Stack: debug.Stack()}
	r.mu.Lock()
	if r.goroutinePanic == nil {
		r.goroutinePanic = p
	}
	r.mu.Unlock()
	r.Stop(fmt.Errorf("%w: %w", ErrStopped, p))
}

// Concurrent implements [call.Run].
func (r *run) Concurrent() bool { return r.waiters.Load() != nil }

// A waiterCount counts the goroutines that a run started with [Go] and those that
// wait for replies.
type waiterCount struct {
	goroutines atomic.Int32 // running goroutines of Go
	waiting    atomic.Int32 // of those and the generator itself, waiting for replies
	// generatorWaits is true if, since the first of the running goroutines started,
	// the generator itself waited for a reply while all of them did.
	generatorWaits atomic.Bool
}

// addGoroutine counts a goroutine that starts. The caller holds r.mu.
func (r *run) addGoroutine() *waiterCount {
	c := r.waiters.Load()
	if c == nil {
		c = new(waiterCount)
		r.waiters.Store(c)
	}
	if c.goroutines.Add(1) == 1 {
		c.generatorWaits.Store(false)
	}
	return c
}

// removeGoroutine uncounts a goroutine that has ended.
func (c *waiterCount) removeGoroutine() {
	if c != nil {
		c.goroutines.Add(-1)
	}
}

// BeginWait implements [call.Binding].
func (r *run) BeginWait() (counted bool) {
	all := r.waiters.Load()
	if all == nil {
		return false
	}
	if all.waiting.Add(1) > all.goroutines.Load() {
		all.generatorWaits.Store(true)
	}
	return true
}

// EndWait implements [call.Binding].
func (r *run) EndWait() { r.waiters.Load().waiting.Add(-1) }

// Working implements [call.Run].
func (r *run) Working() bool {
	c := r.waiters.Load()
	if c == nil {
		return false
	}
	all := c.goroutines.Load()
	if c.generatorWaits.Load() {
		all++
	}
	return c.waiting.Load() < all
}
