package requests

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A Table has the requests of one session that have no response yet, of both sides. The
// zero value has none. Its methods may be called concurrently.
type Table struct {
	mu       sync.Mutex
	inFlight map[string]*InFlight       // of the client, by raw id
	awaited  map[string]ResponseHandler // of this server, by raw id
	hasEnded bool
}

// A ResponseHandler receives the response to a request of this server, once, on the
// goroutine that received it.
type ResponseHandler interface{ HandleResponse(msg.Incoming) }

// ErrSessionEnded is the cause with which the requests of a session that ends are
// cancelled.
var ErrSessionEnded = errors.New("the session has ended")

// Register adds a request of the client. It refuses an id that is in use, and every id
// after [Table.End].
func (t *Table) Register(ctx context.Context, id json.RawMessage) (*InFlight, *msg.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hasEnded {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "%v", ErrSessionEnded)
	}
	if t.inFlight[string(id)] != nil {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "a request with the id %s is already in progress", id)
	}
	return t.add(ctx, id), nil
}

// Replace adds a request that continues on another stream, and cancels the earlier one
// with [ErrMoved].
func (t *Table) Replace(ctx context.Context, id json.RawMessage) *InFlight {
	t.mu.Lock()
	before := t.inFlight[string(id)]
	r := t.add(ctx, id)
	t.mu.Unlock()
	if before != nil {
		before.Cancel(ErrMoved)
	}
	return r
}

// add adds a request. The caller holds mu.
func (t *Table) add(ctx context.Context, id json.RawMessage) *InFlight {
	if t.inFlight == nil {
		t.inFlight = map[string]*InFlight{}
	}
	r := &InFlight{id: string(id), parent: ctx}
	t.inFlight[r.id] = r
	return r
}

// Finish removes a request that was served, and cancels it with [ErrServed].
func (t *Table) Finish(r *InFlight) {
	t.mu.Lock()
	if t.inFlight[r.id] == r {
		delete(t.inFlight, r.id)
	}
	t.mu.Unlock()
	r.Cancel(ErrServed)
}

// Find returns the request of the client with a raw id, or nil.
func (t *Table) Find(id json.RawMessage) *InFlight {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inFlight[string(id)]
}

// Count counts the requests of the client and those of this server.
func (t *Table) Count() (inFlight, awaited int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.inFlight), len(t.awaited)
}

// Await registers the handler of the response to a request of this server. It reports
// false after [Table.End]. With an id that is in use, it replaces the handler: the
// request is sent again.
func (t *Table) Await(id string, handler ResponseHandler) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hasEnded {
		return false
	}
	if t.awaited == nil {
		t.awaited = map[string]ResponseHandler{}
	}
	t.awaited[string(msg.StringID(id))] = handler
	return true
}

// HandleResponse passes a response to its handler. It reports false if there is none: the
// request may have been withdrawn meanwhile.
func (t *Table) HandleResponse(m msg.Incoming) bool {
	t.mu.Lock()
	handler := t.awaited[string(m.ID)]
	delete(t.awaited, string(m.ID))
	t.mu.Unlock()
	if handler != nil {
		handler.HandleResponse(m)
	}
	return handler != nil
}

// Forget removes the handler of a request of this server, and reports whether there was
// no response yet.
func (t *Table) Forget(id string) bool {
	raw := string(msg.StringID(id))
	t.mu.Lock()
	defer t.mu.Unlock()
	_, open := t.awaited[raw]
	delete(t.awaited, raw)
	return open
}

// End removes all handlers, and cancels the requests of the client with cause. Those
// are removed when they have been served.
func (t *Table) End(cause error) {
	t.mu.Lock()
	t.hasEnded = true
	inFlight := slices.Collect(maps.Values(t.inFlight))
	clear(t.awaited)
	t.mu.Unlock()
	for _, r := range inFlight {
		r.Cancel(cause)
	}
}
