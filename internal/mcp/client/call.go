package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// A Request is a request to make of the server, in a [Call].
type Request struct {
	Method string          // tools/call, resources/read, prompts/get or completion/complete
	Params json.RawMessage // an object, or nil
	// Tool is the definition of the tool that is called, as the server listed it; nil
	// for other methods. It says which arguments travel as headers, and whether the call
	// must be a task.
	Tool json.RawMessage
	// Capabilities replace those of the session's Options for this call, if the server
	// is modern. Nil means the session's.
	Capabilities json.RawMessage
	// Observe, if it is set, is called with every message of the call: those that are sent,
	// before they are, and those that are received. It must not block and is called from
	// several goroutines.
	Observe func(way recording.Direction, raw []byte)
}

// A Call is a request in progress that may take long, and during which the server tells
// of its progress, logs, and asks. Its events are read with Next, in the order in which
// the server sent them, until the last.
type Call struct {
	session *Session
	request Request
	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  *eventQueue
	began   time.Time

	mu       sync.Mutex
	detach   func() bool     // stops watching the caller's context
	begun    int             // how many requests have begun
	current  *pendingRequest // the one in progress; nil until it is sent
	tokens   []string        // the progress tokens that were given
	over     error           // why the call is over; nil while it isn't
	rounds   int
	task     string           // the id of the task that the call became; guarded by the session's mu
	requests []*ServerRequest // open requests of the server that may belong to the call
	asking   int              // of those, how many are among its events
}

// An Event is a notification or a request of the server that belongs to a call. One of
// its fields is set.
type Event struct {
	Notification *Notification
	// Request is for the call to reply to, or to pass on.
	Request *ServerRequest
	// Elsewhere is among the events of another call, but may belong to this one.
	Elsewhere *ServerRequest
	end       *callEnd
}

// callEnd is the last event.
type callEnd struct {
	result json.RawMessage
	err    error
}

// An InputError is the error of a call to a modern server whose question got no answer.
type InputError struct {
	Key   string // the server's, of the question
	Cause *message.Error
}

func (e *InputError) Error() string { return e.Cause.Message }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Cause }

// Call makes a request. When ctx ends, the call is cancelled: the server is notified,
// and the call fails with the cause of ctx. The caller must read the call's events
// until the last, or end ctx.
func (s *Session) Call(ctx context.Context, request Request) *Call {
	c := &Call{session: s, request: request, events: newEventQueue(), began: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	s.calls[c] = struct{}{}
	s.mu.Unlock()
	c.mu.Lock() // ctx may have ended, or the session, which finishes the call
	c.detach = context.AfterFunc(ctx, func() { c.abandon(context.Cause(ctx)) })
	c.mu.Unlock()
	c.start()
	return c
}

// Request returns what was requested.
func (c *Call) Request() Request { return c.request }

// observe passes a message on to what observes the call. It does nothing if c is nil.
func (c *Call) observe(way recording.Direction, raw []byte) {
	if c != nil && c.request.Observe != nil {
		c.request.Observe(way, raw)
	}
}

// Began returns when the call began.
func (c *Call) Began() time.Time { return c.began }

// Next returns the next event. It returns false after the last; see Result.
func (c *Call) Next() (Event, bool) { return c.events.next() }

// Result returns the result, once Next has returned false. The error may be a
// [*message.Error] of the server, an [*InputError], the cause of the end of the call's
// context, or say that the connection ended.
func (c *Call) Result() (json.RawMessage, error) {
	end := c.events.wait()
	return end.result, end.err
}

// begin sends a request of the call.
func (c *Call) begin(x *pendingRequest, onFinish func(json.RawMessage, error)) {
	x.call = c
	c.mu.Lock()
	if c.over != nil {
		c.mu.Unlock()
		return
	}
	c.begun++
	n := c.begun
	c.mu.Unlock()
	c.session.begin(x, onFinish)
	c.mu.Lock()
	over := c.over
	if c.begun == n { // else x is over, and its response began the next one
		c.current = x
	}
	c.tokens = append(c.tokens, string(x.id))
	c.mu.Unlock()
	if over != nil { // it was abandoned while the request was being sent
		x.abandon(over)
	}
}

// hasToken reports whether a progress token is one of the call's.
func (c *Call) hasToken(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.tokens, token)
}

// abandon ends the call before its result.
func (c *Call) abandon(cause error) {
	c.cancelTask()
	c.finish(nil, cause)
	c.mu.Lock()
	current := c.current // if it is being sent, begin abandons it
	c.mu.Unlock()
	if current != nil {
		current.abandon(cause)
	}
}

// finish ends the call. Only the first call counts.
func (c *Call) finish(result json.RawMessage, err error) {
	end := &callEnd{result, err}
	if err == nil {
		err = errCallOver
	}
	c.mu.Lock()
	if c.over != nil {
		c.mu.Unlock()
		return
	}
	c.over = err
	requests, detach := c.requests, c.detach
	c.requests = nil
	c.mu.Unlock()
	c.session.mu.Lock()
	delete(c.session.calls, c)
	c.session.mu.Unlock()
	for _, r := range requests {
		r.leave(c)
	}
	c.events.push(Event{end: end})
	c.cancel(err)
	if detach != nil {
		detach()
	}
}

// errCallOver withdraws the questions of calls that ended with them open.
var errCallOver = errors.New("the tool went on without the answer")

// addRequest adds a request that may belong to the call. It reports false if the call is
// over.
func (c *Call) addRequest(r *ServerRequest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil {
		return false
	}
	c.requests = append(c.requests, r)
	return true
}

func (c *Call) removeRequest(r *ServerRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = slices.DeleteFunc(c.requests, func(other *ServerRequest) bool { return other == r })
}

// addAsking counts requests among the call's events. It does nothing if c is nil.
func (c *Call) addAsking(n int) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asking += n
	}
}

// IsAsking reports whether an open request of the server is among the call's events.
func (c *Call) IsAsking() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asking > 0
}
