package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// HeartbeatInterval is how long a stream may be silent before a comment is
	// sent, so that proxies don't close it.
	HeartbeatInterval = 15 * time.Second
	// writeTimeout is how long the reader may read nothing before it is dropped.
	writeTimeout = 10 * time.Second
	// writeChunkSize is how many bytes the reader has to read in that time.
	writeChunkSize = 64 << 10
	// retryDelay is how long a reader waits before it reconnects.
	retryDelay = 300 * time.Millisecond
)

// ErrClientGone means that the reader went away, or read nothing for
// writeTimeout.
var ErrClientGone = errors.New("sse: the reader is gone")

// A Writer writes server-sent events to one response, and heartbeats when there
// are none. It may be used from several goroutines.
type Writer struct {
	w http.ResponseWriter

	mu             sync.Mutex
	buf            bytes.Buffer
	heartbeatTimer *time.Timer // nil before Start
	err            error       // of an earlier write, or Close
}

// NewWriter returns a Writer. It writes nothing before Start.
func NewWriter(w http.ResponseWriter) *Writer { return &Writer{w: w} }

// Start begins the response: its headers, and the heartbeats.
func (s *Writer) Start() {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heartbeatTimer = time.AfterFunc(HeartbeatInterval, s.sendHeartbeat)
}

// Send writes messages, all at once. Its error is an [ErrClientGone], or
// [http.ErrServerClosed] after Close.
func (s *Writer) Send(messages ...Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range messages {
		messages[i].appendTo(&s.buf)
		if messages[i].WriteData != nil {
			s.writeData(&messages[i])
		}
	}
	return s.flush()
}

// writeData writes the large data of a message, after what is in the buffer. The caller
// holds mu.
func (s *Writer) writeData(m *Message) {
	if s.flush() != nil {
		return
	}
	if err := m.WriteData(oneLine{chunkWriter{s.w}}, m.Data); err != nil {
		s.err = fmt.Errorf("%w: %w", ErrClientGone, err)
		return
	}
	s.buf.WriteString("\n\n")
}

// A chunkWriter writes as [WriteChunks] does.
type chunkWriter struct{ w http.ResponseWriter }

// Write implements [io.Writer].
func (c chunkWriter) Write(p []byte) (int, error) { return len(p), WriteChunks(c.w, p) }

// NewChunkWriter returns a writer that writes as [WriteChunks] does.
func NewChunkWriter(w http.ResponseWriter) io.Writer { return chunkWriter{w} }

// A oneLine writes a space for what would end a line, which JSON has only between values.
type oneLine struct{ io.Writer }

// Write implements [io.Writer].
func (o oneLine) Write(p []byte) (int, error) {
	if bytes.ContainsAny(p, "\r\n") {
		p = bytes.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return ' '
			}
			return r
		}, p)
	}
	return o.Writer.Write(p)
}

// SendHeartbeat writes a comment, which a reader ignores.
func (s *Writer) SendHeartbeat() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteString(":\n\n")
	return s.flush()
}

func (s *Writer) sendHeartbeat() { _ = s.SendHeartbeat() } // the error is kept in s.err

// Close ends the heartbeats. Nothing is written after it returns.
func (s *Writer) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heartbeatTimer != nil {
		s.heartbeatTimer.Stop()
	}
	if s.err == nil {
		s.err = http.ErrServerClosed
	}
}

// flush writes the buffer. The caller holds mu.
func (s *Writer) flush() error {
	if s.err != nil || s.buf.Len() == 0 {
		s.buf.Reset()
		return s.err
	}
	err := WriteChunks(s.w, s.buf.Bytes())
	if err == nil {
		err = http.NewResponseController(s.w).Flush()
	}
	if err != nil {
		s.err = fmt.Errorf("%w: %w", ErrClientGone, err)
	}
	if s.buf.Reset(); s.buf.Cap() > 1<<20 {
		s.buf = bytes.Buffer{}
	}
	s.heartbeatTimer.Reset(HeartbeatInterval)
	return s.err
}

// WriteChunks writes b to a response in pieces, each with a deadline: a reader that
// reads slowly is served, one that reads nothing for writeTimeout is not.
func WriteChunks(w http.ResponseWriter, b []byte) error {
	controller := http.NewResponseController(w)
	for piece := range slices.Chunk(b, writeChunkSize) {
		// Not every response has deadlines. Those of net/http's server do.
		_ = controller.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
