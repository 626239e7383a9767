// Package streamable implements the framing of MCP's Streamable HTTP transport: how a
// message is posted, and how its response becomes a stream.
package streamable

import (
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
	s := &Response{w: w, events: sse.NewWriter(w), primes: primes}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upgradeTimer = time.AfterFunc(upgradeDelay, func() { _ = s.OpenEvents() }) // a client that is gone needs no stream
	return s
}

// SetResumeCursor sets what a client that has received no message yet resumes after.
func (s *Response) SetResumeCursor(cursor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor = cursor
}

// Send writes a message and returns once it is written. The client can resume after
// cursor, unless it is empty. The error is [message.ErrClientGone].
func (s *Response) Send(cursor string, m []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return message.ErrClientGone
	}
	return s.sendEvents(append(s.startEvents(), s.newEvent(cursor, m))...)
}

// OpenEvents makes the response a stream before there is a message.
func (s *Response) OpenEvents() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return message.ErrClientGone
	}
	if err := s.sendEvents(s.startEvents()...); err != nil {
		return err
	}
	if s.events.SendHeartbeat() != nil {
		return message.ErrClientGone
	}
	return nil
}

// startEvents sends the headers, if they were not sent yet, and returns the event
// that the client can resume after when it gets no other. The caller holds mu.
func (s *Response) startEvents() []sse.Message {
	if s.headersSent {
		return nil
	}
	s.headersSent = true
	s.upgradeTimer.Stop()
	s.events.Start()
	if s.primes && s.cursor != "" {
		return []sse.Message{{TextID: s.cursor, Retry: reconnectDelay, Data: []byte("\n")}}
	}
	return nil
}

// newEvent returns the event for a message. The caller holds mu.
func (s *Response) newEvent(cursor string, m []byte) sse.Message {
	if cursor != "" {
		s.cursor = cursor
	}
	return sse.Message{TextID: cursor, Data: m}
}

// sendEvents writes events. The caller holds mu.
func (s *Response) sendEvents(events ...sse.Message) error {
	if s.events.Send(events...) != nil {
		return message.ErrClientGone
	}
	return nil
}

// EndAfter ends the stream after d, and then calls end. A client that can resume
// the stream comes back, and holds no connection meanwhile.
func (s *Response) EndAfter(d time.Duration, end func()) (stop func()) {
	t := time.AfterFunc(d, func() {
		s.mu.Lock()
		if !s.hasEnded {
			_ = s.sendEvents(s.startEvents()...) // a client that is gone needs no event
		}
		s.hasEnded = true
		s.mu.Unlock()
		end()
	})
	return func() { t.Stop() }
}

// Finish ends the response with the reply, if there is one. The status is that of
// a JSON response; the status of a stream was sent with its headers.
func (s *Response) Finish(reply []byte, cursor string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return
	}
	s.hasEnded = true
	switch {
	case s.headersSent && reply != nil:
		_ = s.sendEvents(s.newEvent(cursor, reply)) // a client that is gone needs no reply
	case s.headersSent:
	case reply == nil:
		s.w.WriteHeader(http.StatusAccepted)
	default:
		h := s.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Length", strconv.Itoa(len(reply)))
		s.w.WriteHeader(status)
		_ = sse.WriteChunks(s.w, reply) // as above
	}
}

// Close ends the stream's timers. It must be called before the handler returns.
func (s *Response) Close() {
	s.upgradeTimer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasEnded = true
	s.events.Close()
}
