// Package streamable implements the framing of MCP's Streamable HTTP transport: how a
// message is posted, and how its response becomes a stream.
package streamable

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/sse"
)

const (
	// upgradeDelay is how long a request may be silent before its response
	// becomes a stream, so that no proxy takes it for dead.
	upgradeDelay = 2 * time.Second
	// reconnectDelay is how long a client whose stream ended waits before it
	// resumes.
	reconnectDelay = 500 * time.Millisecond
)

// A Response is the response to one request over HTTP. It is a JSON object
// if there is nothing but the reply, and becomes server-sent events with the
// first message before that, or when the reply takes long.
type Response struct {
	w      http.ResponseWriter
	events *sse.Writer
	primes bool // the stream begins with an event that the client can resume after

	mu           sync.Mutex
	cursor       string // of the last message, or where the call began
	headersSent  bool
	hasEnded     bool
	upgradeTimer *time.Timer
}

// NewResponse returns the response to a request. If primes is true, a stream begins with
// an event that the client can resume after, so that it can resume before it has got a
// message.
func NewResponse(w http.ResponseWriter, primes bool) *Response {
	r := &Response{w: w, events: sse.NewWriter(w), primes: primes}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.upgradeTimer = time.AfterFunc(upgradeDelay, func() { _ = r.OpenEvents() }) // a client that is gone needs no stream
	return r
}

// SetResumeCursor sets what a client that has received no message yet resumes after.
func (r *Response) SetResumeCursor(cursor string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cursor = cursor
}

// Send writes a message and returns once it is written. The client can resume after
// cursor, unless it is empty. The error is [message.ErrClientGone].
func (r *Response) Send(cursor string, m []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasEnded {
		return message.ErrClientGone
	}
	return r.sendEvents(append(r.startEvents(), r.newEvent(cursor, m))...)
}

// OpenEvents makes the response a stream before there is a message.
func (r *Response) OpenEvents() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasEnded {
		return message.ErrClientGone
	}
	if err := r.sendEvents(r.startEvents()...); err != nil {
		return err
	}
	if r.events.SendHeartbeat() != nil {
		return message.ErrClientGone
	}
	return nil
}

// startEvents sends the headers, if they were not sent yet, and returns the event
// that the client can resume after when it gets no other. The caller holds mu.
func (r *Response) startEvents() []sse.Message {
	if r.headersSent {
		return nil
	}
	r.headersSent = true
	r.upgradeTimer.Stop()
	r.events.Start()
	if r.primes && r.cursor != "" {
		return []sse.Message{{TextID: r.cursor, Retry: reconnectDelay, Data: []byte("\n")}}
	}
	return nil
}

// newEvent returns the event for a message. The caller holds mu.
func (r *Response) newEvent(cursor string, m []byte) sse.Message {
	if cursor != "" {
		r.cursor = cursor
	}
	return sse.Message{TextID: cursor, Data: m}
}

// sendEvents writes events. The caller holds mu.
func (r *Response) sendEvents(events ...sse.Message) error {
	if r.events.Send(events...) != nil {
		return message.ErrClientGone
	}
	return nil
}

// Finish ends the response with the reply, if there is one. If write isn't nil, it writes the
// reply, which may be large. The status is that of a JSON response; the status of a stream was
// sent with its headers.
func (r *Response) Finish(reply []byte, write func(w io.Writer, reply []byte) error, cursor string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasEnded {
		return
	}
	r.hasEnded = true
	switch {
	case r.headersSent && reply != nil:
		m := r.newEvent(cursor, reply)
		m.WriteData = write
		_ = r.sendEvents(m) // a client that is gone needs no reply
		return
	case r.headersSent:
		return
	case reply == nil:
		r.w.WriteHeader(http.StatusAccepted)
		return
	}
	h := r.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if write == nil {
		h.Set("Content-Length", strconv.Itoa(len(reply)))
	}
	r.w.WriteHeader(status)
	if write == nil {
		_ = sse.WriteChunks(r.w, reply) // as above
	} else if write(sse.NewChunkWriter(r.w), reply) != nil {
		panic(http.ErrAbortHandler) // the client must not take what it has for the reply
	}
}

// Close ends the stream's timers. It must be called before the handler returns.
func (r *Response) Close() {
	r.upgradeTimer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasEnded = true
	r.events.Close()
}
