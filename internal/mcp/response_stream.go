package mcp

import (
	"net/http"
	"strconv"
	"sync"
	"time"

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

// A responseStream is the response to one request over HTTP. It is a JSON object
// if there is nothing but the reply, and becomes server-sent events with the
// first message before that, or when the reply takes long.
type responseStream struct {
	w      http.ResponseWriter
	events *sse.Writer
	primes bool // the stream begins with an event that the client can resume after

	mu           sync.Mutex
	cursor       string // of the last message, or where the call began
	headersSent  bool
	hasEnded     bool
	upgradeTimer *time.Timer
}

func newResponseStream(w http.ResponseWriter, primes bool) *responseStream {
	s := &responseStream{w: w, events: sse.NewWriter(w), primes: primes}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upgradeTimer = time.AfterFunc(upgradeDelay, func() { _ = s.openEvents() }) // a client that is gone needs no stream
	return s
}

// setResumeCursor implements [messageSender].
func (s *responseStream) setResumeCursor(cursor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor = cursor
}

// send implements [messageSender].
func (s *responseStream) send(cursor string, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return errClientGone
	}
	return s.sendEvents(append(s.startEvents(), s.newEvent(cursor, message))...)
}

// openEvents makes the response a stream before there is a message.
func (s *responseStream) openEvents() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return errClientGone
	}
	if err := s.sendEvents(s.startEvents()...); err != nil {
		return err
	}
	if s.events.SendHeartbeat() != nil {
		return errClientGone
	}
	return nil
}

// startEvents sends the headers, if they were not sent yet, and returns the event
// that the client can resume after when it gets no other. The caller holds mu.
func (s *responseStream) startEvents() []sse.Message {
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
func (s *responseStream) newEvent(cursor string, message []byte) sse.Message {
	if cursor != "" {
		s.cursor = cursor
	}
	return sse.Message{TextID: cursor, Data: message}
}

// sendEvents writes events. The caller holds mu.
func (s *responseStream) sendEvents(events ...sse.Message) error {
	if s.events.Send(events...) != nil {
		return errClientGone
	}
	return nil
}

// endAfter ends the stream after d, and then calls end. A client that can resume
// the stream comes back, and holds no connection meanwhile.
func (s *responseStream) endAfter(d time.Duration, end func()) (stop func()) {
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

// finish ends the response with the reply, if there is one. The status is that of
// a JSON response; the status of a stream was sent with its headers.
func (s *responseStream) finish(r reply, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return
	}
	s.hasEnded = true
	switch {
	case s.headersSent && r.message != nil:
		_ = s.sendEvents(s.newEvent(r.cursor, r.message)) // a client that is gone needs no reply
	case s.headersSent:
	case r.message == nil:
		s.w.WriteHeader(http.StatusAccepted)
	default:
		h := s.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Length", strconv.Itoa(len(r.message)))
		s.w.WriteHeader(status)
		_ = sse.WriteChunks(s.w, r.message) // as above
	}
}

// close ends the stream's timers. It must be called before the handler returns.
func (s *responseStream) close() {
	s.upgradeTimer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasEnded = true
	s.events.Close()
}
