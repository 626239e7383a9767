// Package toolresult passes the result of another server's tool, as that server gave it,
// from the photon that called the tool to the engine. What the photon yields and returns
// is for people; the result itself is for MCP clients.
package toolresult

import (
	"context"
	"encoding/json"
	"sync"
)

// A Recorder receives the result of one run. It may be used from several goroutines.
type Recorder struct {
	mu        sync.Mutex
	result    json.RawMessage
	unkept    bool
	mediaType string
	question  error // why the last question has no answer; nil if it has one
}

type recorderKey struct{}

// WithRecorder returns the context for a run, and the recorder of its result.
func WithRecorder(ctx context.Context) (context.Context, *Recorder) {
	r := new(Recorder)
	return context.WithValue(ctx, recorderKey{}, r), r
}

// Record records the result of the run that ctx belongs to: a CallToolResult, or the
// result of another request to the server. The last one counts. It does nothing if ctx
// belongs to no run of an engine.
func Record(ctx context.Context, result json.RawMessage) { record(ctx, result, false) }

// RecordUnkept is Record for a result that must not be in the log. The engine keeps it
// in memory for a while, for the client that waits for it.
func RecordUnkept(ctx context.Context, result json.RawMessage) { record(ctx, result, true) }

func record(ctx context.Context, result json.RawMessage, unkept bool) {
	if r, ok := ctx.Value(recorderKey{}).(*Recorder); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.result, r.unkept = result, unkept
	}
}

// RecordMediaType records the media type of what the photon returns, if that is a text in
// a language such as Markdown.
func RecordMediaType(ctx context.Context, mediaType string) {
	if r, ok := ctx.Value(recorderKey{}).(*Recorder); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.mediaType = mediaType
	}
}

// RecordQuestion records what came of a question of the run that ctx belongs to: nil, or
// the error of one that was settled without an answer. The last one counts.
func RecordQuestion(ctx context.Context, err error) {
	if r, ok := ctx.Value(recorderKey{}).(*Recorder); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.question = err
	}
}

// WithQuestion returns the error of a tool that failed. If its last question was settled
// without an answer, the error has that one's, too: the tool failed for want of an answer.
func WithQuestion(ctx context.Context, err error) error {
	r, ok := ctx.Value(recorderKey{}).(*Recorder)
	if !ok || err == nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.question == nil {
		return err
	}
	return &unansweredError{err, r.question}
}

// An unansweredError has the text of the tool's error.
type unansweredError struct {
	error
	question error
}

func (e *unansweredError) Unwrap() []error { return []error{e.error, e.question} }

// MediaType returns the recorded media type, or "".
func (r *Recorder) MediaType() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mediaType
}

// Result returns the recorded result, or nil, and reports whether it must not be in the
// log.
func (r *Recorder) Result() (result json.RawMessage, unkept bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result, r.unkept
}
