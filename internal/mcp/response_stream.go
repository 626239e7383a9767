package mcp

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The times of a stream over HTTP.
const (
	// upgradeDelay is how long a request may take without a word before its
	// response becomes a stream, so that nothing on the way takes it for dead.
	upgradeDelay      = 2 * time.Second
	heartbeatInterval = 15 * time.Second
	// writeTimeout is how long a write may take before the client counts as gone.
	writeTimeout = 10 * time.Second
	// writeChunkSize is how much has to be taken in that time, in bytes.
	writeChunkSize = 64 << 10
	// reconnectDelay is when a client whose stream ended is to come back.
	reconnectDelay = 500 * time.Millisecond
)

// A responseStream is the response to one request over HTTP. It is a JSON object if
// the reply is all there is to say, and becomes server-sent events with the
// first message before it, or when it takes long.
type responseStream struct {
	w          http.ResponseWriter
	controller *http.ResponseController
	primes     bool // begins with an event that can be resumed after

	mu             sync.Mutex
	buf            bytes.Buffer
	cursor         string // of the last message, or where the call began
	headersSent    bool
	hasEnded       bool
	err            error
	heartbeatTimer *time.Timer
}

func newResponseStream(w http.ResponseWriter, primed bool) *responseStream {
	s := &responseStream{w: w, controller: http.NewResponseController(w), primes: primed}
	s.heartbeatTimer = time.AfterFunc(upgradeDelay, s.sendHeartbeat)
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
	s.startEvents()
	s.writeEvent(cursor, message)
	return s.flush()
}

// openEvents begins the events before there is one.
func (s *responseStream) openEvents() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startEvents()
	s.buf.WriteString(":\n\n")
	return s.flush()
}

// startEvents sends the headers, and what a client resumes after that gets nothing
// else. Callers hold mu.
func (s *responseStream) startEvents() {
	if s.headersSent {
		return
	}
	s.headersSent = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	if s.primes && s.cursor != "" {
		fmt.Fprintf(&s.buf, "id: %s\nretry: %d\ndata: \n\n", s.cursor, reconnectDelay.Milliseconds())
	}
}

// writeEvent writes a message. JSON has no line ends but between its tokens, and
// ours has none there. Callers hold mu.
func (s *responseStream) writeEvent(cursor string, message []byte) {
	if cursor != "" {
		s.cursor = cursor
		s.buf.WriteString("id: " + strings.NewReplacer("\n", "", "\r", "").Replace(cursor) + "\n")
	}
	s.buf.WriteString("data: ")
	s.buf.Write(message)
	s.buf.WriteString("\n\n")
}

// flush sends what is in the buffer. Callers hold mu.
func (s *responseStream) flush() error {
	if s.err != nil {
		return s.err
	}
	if s.writeChunks(s.buf.Bytes()) != nil || s.controller.Flush() != nil {
		s.err = errClientGone
	}
	if s.buf.Reset(); s.buf.Cap() > 1<<20 {
		s.buf = bytes.Buffer{}
	}
	s.heartbeatTimer.Reset(heartbeatInterval)
	return s.err
}

// writeChunks writes to the client, a piece at a time: who takes nothing for long is
// gone, who takes it slowly is not.
func (s *responseStream) writeChunks(b []byte) error {
	for piece := range slices.Chunk(b, writeChunkSize) {
		_ = s.controller.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has deadlines; net/http's have
		if _, err := s.w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// sendHeartbeat shows that the request is still being served.
func (s *responseStream) sendHeartbeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded || s.err != nil {
		return
	}
	s.startEvents()
	s.buf.WriteString(":\n\n")
	_ = s.flush() // kept in err
}

// endAfter ends the stream after d: a client that can resume it comes back, and
// holds no connection meanwhile.
func (s *responseStream) endAfter(d time.Duration, end func()) (stop func()) {
	t := time.AfterFunc(d, func() {
		s.mu.Lock()
		if !s.hasEnded {
			s.startEvents()
			_ = s.flush()
		}
		s.hasEnded = true
		s.mu.Unlock()
		end()
	})
	return func() { t.Stop() }
}

// finish ends the response with the reply, if there is one. The status is that
// of a JSON response; a stream has had its own.
func (s *responseStream) finish(r reply, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return
	}
	s.hasEnded = true
	switch {
	case s.headersSent && r.message != nil:
		s.writeEvent(r.cursor, r.message)
		_ = s.flush()
	case s.headersSent:
	case r.message == nil:
		s.w.WriteHeader(http.StatusAccepted)
	default:
		h := s.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Length", strconv.Itoa(len(r.message)))
		s.w.WriteHeader(status)
		_ = s.writeChunks(r.message) // a client that is gone needs no answer
	}
}

// close ends the stream's timer.
func (s *responseStream) close() {
	s.heartbeatTimer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasEnded = true
}
