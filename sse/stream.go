// Package sse serves a followed log as server-sent events (WHATWG HTML, section
// 9.2). What the events say is up to a [Renderer]: JSON-RPC messages are made
// here, the browser's patches in package web.
//
// The log is the buffer: a stream reads it at its reader's pace, so a slow
// reader gets larger steps and never slows a run. One that takes nothing for
// [WriteTimeout] is dropped; it may come back with the id of the last event that it
// has, and misses nothing.
package sse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// The times of a stream.
const (
	// HeartbeatInterval is how long a stream may be silent before a comment is sent, so
	// that nothing on the way takes it for dead.
	HeartbeatInterval = 15 * time.Second
	// WriteTimeout is how long a write may take before the reader is dropped.
	WriteTimeout = 10 * time.Second
)

// ErrClientGone: the reader went away, or took nothing for [WriteTimeout].
var ErrClientGone = errors.New("sse: the reader is gone")

// A Message is one server-sent event.
type Message struct {
	ID   uint64 // the ordinal of the log entry it tells; 0 has none
	Type string // the event field; empty is "message"
	Data []byte // any text; its lines become data fields
	// Partial marks the ID with [PartialMark].
	Partial bool
	// Retry, if not 0, is how long the reader shall wait before it comes back.
	Retry time.Duration
}

// PartialMark follows an id whose reader has what the id says, and may have some of
// what comes next: a step of several messages begins so. A reader that comes
// back with it doesn't know how much of the step it got.
const PartialMark = "+"

// A Renderer turns log entries into messages. It sees every entry of a run
// that follows the ordinal where the stream began, once, in order.
type Renderer interface {
	Render(batch []runlog.Entry) ([]Message, error)
}

// A Breaker is a Renderer that tells the reader why nothing follows: the log is
// damaged, so that coming back would not help.
type Breaker interface {
	Broken(err error) ([]Message, error)
}

// Options change how a stream is served.
type Options struct {
	// BatchDelay, if not nil, is how long to collect what comes after so many
	// entries, before the next Render: a page that is patched faster than it
	// can draw freezes. The first entry after a quiet time, and whatever
	// follows something that a person waits for (a question, an answer, the
	// end), is not held up.
	BatchDelay func(entries int) time.Duration
}

// ResumeAfter is the ordinal that a request wants to continue after: the
// Last-Event-ID header, which a reconnecting reader sends, or else the query
// parameter after; 0 without either.
func ResumeAfter(r *http.Request) (uint64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	after, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Last-Event-ID or after must be the id of an event, a whole number, not %q", text)
	}
	return after, nil
}

// Serve writes a run's entries to a response until the run ends, the reader
// goes away or stalls, or ctx ends. Its error is for the log: the response is
// under way.
func Serve(ctx context.Context, w http.ResponseWriter, batches iter.Seq2[[]runlog.Entry, error], render Renderer, o Options) error {
	return WriteBatches(w, RenderBatches(ctx, batches, render, o))
}

// RenderBatches are what [Serve] sends: the messages of each batch.
func RenderBatches(ctx context.Context, batches iter.Seq2[[]runlog.Entry, error], render Renderer, o Options) iter.Seq2[[]Message, error] {
	return func(yield func([]Message, error) bool) {
		for batch, err := range batches {
			var messages []Message
			if err == nil {
				messages, err = render.Render(batch)
			}
			if b, ok := render.(Breaker); ok && errors.Is(err, runlog.ErrCorrupt) {
				if last, e := b.Broken(err); e != nil || !yield(last, nil) {
					return
				}
			}
			if !yield(messages, err) || err != nil {
				return
			}
			// What rendered to nothing is a page catching up: nobody draws it.
			if o.BatchDelay != nil && len(messages) > 0 && !hasUrgentEntry(batch) && !Sleep(ctx, o.BatchDelay(len(batch))) {
				return
			}
		}
	}
}

// WriteBatches writes messages to a response, all of a step at once, until there are
// no more steps, a step is an error, or the reader goes away or stalls.
func WriteBatches(w http.ResponseWriter, steps iter.Seq2[[]Message, error]) error {
	s := newResponseStream(w)
	defer s.close()
	if err := s.open(); err != nil {
		return err
	}
	for messages, err := range steps {
		if err == nil {
			err = s.send(messages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasUrgentEntry tells whether a batch has something that a person waits for.
func hasUrgentEntry(batch []runlog.Entry) bool {
	for _, e := range batch {
		if !e.Kind.IsEvent() {
			return true
		}
	}
	return false
}

// Sleep waits. It returns false, and at once, if ctx ends.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// responseStream writes to one response, heartbeats included.
type responseStream struct {
	w              http.ResponseWriter
	controller     *http.ResponseController
	mu             sync.Mutex
	buf            bytes.Buffer
	heartbeatTimer *time.Timer
	err            error // of an earlier write
}

func newResponseStream(w http.ResponseWriter) *responseStream {
	return &responseStream{w: w, controller: http.NewResponseController(w)}
}

// open sends the headers and a first comment, so that the reader knows that it
// is connected.
func (s *responseStream) open() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteString("retry: 300\n\n")
	s.heartbeatTimer = time.AfterFunc(HeartbeatInterval, s.sendHeartbeat)
	return s.writeBuffer()
}

func (s *responseStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heartbeatTimer != nil {
		s.heartbeatTimer.Stop()
	}
	if s.err == nil {
		s.err = http.ErrServerClosed
	}
}

func (s *responseStream) sendHeartbeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.buf.WriteString(":\n\n")
	_ = s.writeBuffer() // kept in s.err
}

func (s *responseStream) send(messages []Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		m.appendTo(&s.buf)
	}
	if s.buf.Len() == 0 {
		return s.err
	}
	return s.writeBuffer()
}

// writeBuffer sends what is in the buffer. Callers hold mu.
func (s *responseStream) writeBuffer() error {
	if s.err != nil {
		return s.err
	}
	// Not every writer has deadlines; those of net/http's server do.
	_ = s.controller.SetWriteDeadline(time.Now().Add(WriteTimeout))
	_, err := s.w.Write(s.buf.Bytes())
	if err == nil {
		err = s.controller.Flush()
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

// appendTo writes the message in the wire format.
func (m Message) appendTo(b *bytes.Buffer) {
	if m.Type != "" {
		b.WriteString("event: " + m.Type + "\n")
	}
	if m.ID > 0 {
		b.WriteString("id: ")
		b.Write(strconv.AppendUint(b.AvailableBuffer(), m.ID, 10))
		if m.Partial {
			b.WriteString(PartialMark)
		}
		b.WriteByte('\n')
	}
	if m.Retry > 0 {
		b.WriteString("retry: " + strconv.FormatInt(m.Retry.Milliseconds(), 10) + "\n")
	}
	for line := range bytes.Lines(normalizeNewlines(m.Data)) {
		b.WriteString("data: ")
		b.Write(bytes.TrimSuffix(line, []byte("\n")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// normalizeNewlines writes every line's end as a line feed: a carriage return is one
// for the reader, too, and would let a text say what only the stream may.
func normalizeNewlines(data []byte) []byte {
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}
