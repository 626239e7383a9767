package session

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/requests"
)

// A Call is a call that its client may resume if its stream breaks off.
type Call interface {
	// Key identifies the call in its session.
	Key() string
	// RequestID returns the id of its request.
	RequestID() json.RawMessage
	// HasEnded reports whether there is nothing left to resume.
	HasEnded() bool
	// HasEntry reports whether the log of the call's run has an entry with the ordinal seq.
	HasEntry(seq uint64) bool
	// Resume continues the call on another stream, with the entries after the one that the
	// client received last. It returns the call's reply.
	Resume(out requests.Sender, inFlight *requests.InFlight, after uint64) requests.Reply
	// Record records a message of the client that is about the call.
	Record(raw []byte)
	// Cancel ends a call that its client has cancelled, and withdraws its questions.
	Cancel()
	// Abandon is called when the session ends, so that nobody will resume the call.
	Abandon()
}

// maxCalls is the maximum number of resumable calls in a session.
const maxCalls = 10_000

// Calls are the resumable calls of a session. The zero value has none.
type Calls struct {
	mu    sync.Mutex
	calls map[string]Call // by key
	ended bool
}

// Add adds a call. It reports false if the session has ended. If there are too many, it
// first evicts calls that have ended.
func (cs *Calls) Add(c Call) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.ended {
		return false
	}
	if cs.calls == nil {
		cs.calls = map[string]Call{}
	}
	if len(cs.calls) >= maxCalls {
		maps.DeleteFunc(cs.calls, func(_ string, old Call) bool { return old.HasEnded() })
	}
	cs.calls[c.Key()] = c
	return true
}

// Remove removes the call with a key.
func (cs *Calls) Remove(key string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.calls, key)
}

// Find returns the call with the given key, or nil.
func (cs *Calls) Find(key string) Call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.calls[key]
}

// All returns all calls.
func (cs *Calls) All() []Call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Collect(maps.Values(cs.calls))
}

// end admits no further calls, and returns those that there are.
func (cs *Calls) end() []Call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.ended = true
	return slices.Collect(maps.Values(cs.calls))
}

// MaxHandles is the largest number of handles that a session remembers.
const MaxHandles = 20

// handles are those of the runs that a session has returned. The zero value has none.
type handles struct {
	mu  sync.Mutex
	ids []string // oldest first
}

// addHandle adds a handle. It forgets the oldest if there are too many.
func addHandle(ids []string, id string) []string {
	if slices.Contains(ids, id) {
		return ids
	}
	if len(ids) >= MaxHandles {
		ids = slices.Delete(ids, 0, 1)
	}
	return append(ids, id)
}

func (h *handles) remember(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = addHandle(h.ids, id)
}

func (h *handles) set(ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = ids
}

func (h *handles) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}
