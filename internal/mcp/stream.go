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
	// upgradeAfter is how long a request may take without a word before its
	// response becomes a stream, so that nothing on the way takes it for dead.
	upgradeAfter = 2 * time.Second
	heartbeat    = 15 * time.Second
	// stalled is how long a write may take before the client counts as gone.
	stalled = 10 * time.Second
	// pieceSize is how much has to be taken in that time, in bytes.
	pieceSize = 64 << 10
	// comeBack is when a client whose stream ended is to come back.
	comeBack = 500 * time.Millisecond
)

// A stream is the response to one request over HTTP. It is a JSON object if
// the reply is all there is to say, and becomes server-sent events with the
// first message before it, or when it takes long.
type stream struct {
	w      http.ResponseWriter
	ctl    *http.ResponseController
	primed bool // begins with an event that can be resumed after

	mu     sync.Mutex
	buf    bytes.Buffer
	cursor string // of the last message, or where the call began
	opened bool
	ended  bool
	err    error
	beat   *time.Timer
}

func newStream(w http.ResponseWriter, primed bool) *stream {
	s := &stream{w: w, ctl: http.NewResponseController(w), primed: primed}
	s.beat = time.AfterFunc(upgradeAfter, s.alive)
	return s
}

// begin implements [outlet].
func (s *stream) begin(cursor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor = cursor
}

// send implements [outlet].
func (s *stream) send(cursor string, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errGone
	}
	s.start()
	s.event(cursor, message)
	return s.flush()
}

// open begins the events before there is one.
func (s *stream) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
	s.buf.WriteString(":\n\n")
	return s.flush()
}

// start sends the headers, and what a client resumes after that gets nothing
// else. Callers hold mu.
func (s *stream) start() {
	if s.opened {
		return
	}
	s.opened = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	if s.primed && s.cursor != "" {
		fmt.Fprintf(&s.buf, "id: %s\nretry: %d\ndata: \n\n", s.cursor, comeBack.Milliseconds())
	}
}

// event writes a message. JSON has no line ends but between its tokens, and
// ours has none there. Callers hold mu.
func (s *stream) event(cursor string, message []byte) {
	if cursor != "" {
		s.cursor = cursor
		s.buf.WriteString("id: " + strings.NewReplacer("\n", "", "\r", "").Replace(cursor) + "\n")
	}
	s.buf.WriteString("data: ")
	s.buf.Write(message)
	s.buf.WriteString("\n\n")
}

// flush sends what is in the buffer. Callers hold mu.
func (s *stream) flush() error {
	if s.err != nil {
		return s.err
	}
	if s.write(s.buf.Bytes()) != nil || s.ctl.Flush() != nil {
		s.err = errGone
	}
	if s.buf.Reset(); s.buf.Cap() > 1<<20 {
		s.buf = bytes.Buffer{}
	}
	s.beat.Reset(heartbeat)
	return s.err
}

// write writes to the client, a piece at a time: who takes nothing for long is
// gone, who takes it slowly is not.
func (s *stream) write(b []byte) error {
	for piece := range slices.Chunk(b, pieceSize) {
		_ = s.ctl.SetWriteDeadline(time.Now().Add(stalled)) // not every writer has deadlines; net/http's have
		if _, err := s.w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// alive shows that the request is still being served.
func (s *stream) alive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.err != nil {
		return
	}
	s.start()
	s.buf.WriteString(":\n\n")
	_ = s.flush() // kept in err
}

// limit ends the stream after d: a client that can resume it comes back, and
// holds no connection meanwhile.
func (s *stream) limit(d time.Duration, end func()) (stop func()) {
	t := time.AfterFunc(d, func() {
		s.mu.Lock()
		if !s.ended {
			s.start()
			_ = s.flush()
		}
		s.ended = true
		s.mu.Unlock()
		end()
	})
	return func() { t.Stop() }
}

// finish ends the response with the reply, if there is one. The status is that
// of a JSON response; a stream has had its own.
func (s *stream) finish(r reply, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	switch {
	case s.opened && r.message != nil:
		s.event(r.cursor, r.message)
		_ = s.flush()
	case s.opened:
	case r.message == nil:
		s.w.WriteHeader(http.StatusAccepted)
	default:
		h := s.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Length", strconv.Itoa(len(r.message)))
		s.w.WriteHeader(status)
		_ = s.write(r.message) // a client that is gone needs no answer
	}
}

// close ends the stream's timer.
func (s *stream) close() {
	s.beat.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}
