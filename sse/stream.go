// Package sse serves a followed log as server-sent events (WHATWG HTML, section
// 9.2). A [Renderer] decides what the events contain: [JSONRPCRenderer] renders MCP
// messages, and package web renders patches for the browser.
//
// The log is the buffer. A stream reads it at the pace of its reader, so a slow reader
// gets larger batches and never slows a run. A reader that reads nothing for
// ten seconds is dropped. It can reconnect with the id of the last event that it has,
// and misses nothing.
package sse

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// A Renderer turns log entries into messages. It sees every entry of a run
// that follows the ordinal where the stream began, once, in order.
type Renderer interface {
	Render(batch []runlog.Entry) ([]Message, error)
}

// A breaker is a Renderer that explains to the reader why nothing follows: the log is
// damaged, so reconnecting would not help.
type breaker interface {
	// Broken returns the last messages of a stream whose log is damaged.
	Broken(err error) ([]Message, error)
}

// Options change how a stream is served.
type Options struct {
	// BatchDelay, if not nil, returns how long to collect entries before the next
	// Render, after a batch of the given size. A page freezes if it is patched faster than
	// it can draw. The first entry after a quiet time is not
	// delayed, nor is what follows an entry that a person waits for (a question,
	// an answer, the end).
	BatchDelay func(entries int) time.Duration
}

// ResumeAfter returns the ordinal that a request continues after: the
// Last-Event-ID header, which a reconnecting reader sends, or else the query
// parameter after. It returns 0 if the request has neither.
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

// Serve writes a run's entries to a response until the run ends, the reader goes
// away or stalls, or ctx ends. The error is for the server's log: the response
// has begun.
func Serve(ctx context.Context, w http.ResponseWriter, batches iter.Seq2[[]runlog.Entry, error], render Renderer, o Options) error {
	return WriteBatches(w, RenderBatches(ctx, batches, render, o))
}

// RenderBatches returns what [Serve] sends: the messages for each batch.
func RenderBatches(ctx context.Context, batches iter.Seq2[[]runlog.Entry, error], render Renderer, o Options) iter.Seq2[[]Message, error] {
	return func(yield func([]Message, error) bool) {
		for batch, err := range batches {
			var messages []Message
			if err == nil {
				messages, err = render.Render(batch)
			}
			if b, ok := render.(breaker); ok && errors.Is(err, runlog.ErrCorrupt) {
				if last, e := b.Broken(err); e != nil || !yield(last, nil) {
					return
				}
			}
			if !yield(messages, err) || err != nil {
				return
			}
			// A batch without messages is a page catching up, which draws nothing.
			if o.BatchDelay != nil && len(messages) > 0 && !hasUrgentEntry(batch) && !Sleep(ctx, o.BatchDelay(len(batch))) {
				return
			}
		}
	}
}

// WriteBatches writes messages to a response, each batch at once, until there are
// no more batches, a batch is an error, or the reader goes away or stalls.
func WriteBatches(w http.ResponseWriter, batches iter.Seq2[[]Message, error]) error {
	out := NewWriter(w)
	defer out.Close()
	out.Start()
	if err := out.Send(Message{Retry: retryDelay}); err != nil {
		return err
	}
	for messages, err := range batches {
		if err == nil {
			err = out.Send(messages...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasUrgentEntry reports whether a batch has an entry that a person waits for.
func hasUrgentEntry(batch []runlog.Entry) bool {
	for _, e := range batch {
		if !e.Kind.IsEvent() {
			return true
		}
	}
	return false
}

// Sleep waits for d. If ctx ends first, it returns false at once.
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
