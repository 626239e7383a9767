package generators

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/call"
)

// A run is one execution of a photon; see [call.Run]. It turns the body of a loop over its
// events into a [Yield] that any goroutine may call at any time.
type run struct {
	id            string // see SetID
	photon        *Photon
	args          json.RawMessage
	ctx           context.Context
	cancel        context.CancelCauseFunc
	stopAfterFunc func() bool // detaches the run from its parent context; nil if that can't end
	body          func(any, error) bool
	// returned is true once the generator has returned and the last pair was delivered.
	returned bool

	mu             sync.Mutex
	ended          bool          // yield returns false
	loopLeft       bool          // the body must not be called again
	bodyExit       *loopBodyExit // how the body exited, if not by break or return
	callKeys       uniqueKeys
	findKey        func(goroutine, given string) string // see SetRecordedKeys; nil if nothing is recorded
	root           goroutine                            // the generator itself
	current        *goroutine                           // whose yield was called last
	goroutines     map[string]*goroutine                // of Go, by name
	clock          int                                  // counts their beginnings and ends
	waiters        atomic.Pointer[waiterCount]          // nil until the generator starts goroutines
	goroutinePanic *call.PanicError                     // the first panic of a goroutine of Go
	runningSteps   []string                             // keys of the steps whose functions run
	mistake        error                                // the first call inside a step or malformed artifact
	children       sync.WaitGroup

	// openCalls are the calls without a reply. They have a lock of their own because
	// mu is held while the body runs, and the body may settle calls.
	openCallsMu sync.Mutex
	openCalls   []*call.Call
}

// loopBodyExit records a panic of the loop body, or its call of runtime.Goexit, as by
// t.Fatal. The body may run on any goroutine that yields, but the exit must happen on
// the goroutine that ranges.
type loopBodyExit struct {
	value  any
	goexit bool
}

func (r *run) yield(e Event) bool { return r.yieldFrom(e, &r.root, false) }

// yieldFrom yields an event with the yield of g. insideStep means that the function of a
// step has sent it from another goroutine.
func (r *run) yieldFrom(e Event, g *goroutine, insideStep bool) bool {
	switch e := e.(type) {
	case *goEvent:
		return r.startGoroutine(e, g, insideStep)
	case *acknowledgedEvent:
		ok := false
		defer func() { e.taken <- ok }() // even if the body panics, because the sender waits
		ok = r.yieldFrom(e.Event, g, e.insideStep)
		return ok
	case nil:
		return r.ctx.Err() == nil
	}
	if isNilEvent(e) {
		return r.ctx.Err() == nil
	}
	var malformed error
	if a, ok := e.(*Artifact); ok {
		malformed = a.check()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = g
	if malformed != nil {
		r.endForMistake(malformed)
	}
	event := any(e)
	if called, ok := e.(*callEvent); ok {
		c := (*call.Call)(called)
		if event = c; !r.isRunningStep(c) {
			if r.isNested(insideStep) {
				r.refuseNested(c)
			}
			r.bindCall(c, g)
		}
	}
	if r.ended || r.ctx.Err() != nil {
		return false
	}
	return r.deliver(event, nil)
}

// endForMistake ends the run because of what the generator must not do. The caller holds
// r.mu.
func (r *run) endForMistake(err error) {
	if r.mistake == nil {
		r.mistake = err
	}
	r.Stop(fmt.Errorf("%w: %w", ErrStopped, r.mistake))
}

// isNilEvent reports whether e is a typed nil, which yield ignores like a nil event.
func isNilEvent(e Event) bool {
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// deliver calls the loop body. The caller holds r.mu, so that only one goroutine runs
// the body at a time.
func (r *run) deliver(event any, err error) (more bool) {
	returned := false
	defer func() {
		if more {
			return
		}
		r.ended, r.loopLeft = true, true
		r.Stop(ErrStopped)
		if returned {
			return
		}
		v := recover()
		r.bodyExit = &loopBodyExit{v, v == nil}
		if v != nil {
			panic(v)
		}
	}()
	more = r.body(event, err)
	returned = true
	return more
}

// bindCall adds a call of a goroutine to the run and makes its key unique.
func (r *run) bindCall(c *call.Call, g *goroutine) {
	c.Bind(r)
	c.Concurrent = r.Concurrent()
	c.GivenKey = c.Key
	recorded := ""
	if r.findKey != nil {
		recorded = r.findKey(g.name, c.Key)
	}
	if c.Key = recorded; recorded == "" {
		c.Key = r.callKeys.unique(c.GivenKey)
	}
	r.openCallsMu.Lock()
	r.openCalls = append(r.openCalls, c)
	r.openCallsMu.Unlock()
	if r.ctx.Err() != nil { // Stop may have settled the open calls already
		c.Settle(call.Reply{Err: stopCause(r.ctx)})
	}
}

// SetRecordedKeys implements [call.Run].
func (r *run) SetRecordedKeys(keys []string, find func(goroutine, given string) string) {
	for _, key := range keys {
		r.callKeys.reserve(key)
	}
	r.findKey = find
}

// RemoveCall implements [call.Binding].
func (r *run) RemoveCall(c *call.Call) {
	r.openCallsMu.Lock()
	defer r.openCallsMu.Unlock()
	if i := slices.Index(r.openCalls, c); i >= 0 {
		r.openCalls = slices.Delete(r.openCalls, i, i+1)
	}
}

// Context implements [call.Run].
func (r *run) Context() context.Context { return r.ctx }

// Stop implements [call.Run].
func (r *run) Stop(cause error) {
	r.cancel(cause)
	r.openCallsMu.Lock()
	waiting := r.openCalls
	r.openCalls = nil
	r.openCallsMu.Unlock()
	for _, c := range waiting {
		c.Settle(call.Reply{Err: stopCause(r.ctx)})
	}
}
