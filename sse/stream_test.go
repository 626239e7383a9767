package sse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// echoRenderer renders each entry's data as it is.
type echoRenderer struct{ batches int }

func (e *echoRenderer) Render(batch []runlog.Entry) ([]sse.Message, error) {
	e.batches++
	var messages []sse.Message
	for _, entry := range batch {
		messages = append(messages, sse.Message{ID: entry.Seq, Data: entry.Data})
	}
	return messages, nil
}

// recorder is a response that can be read while it is written.
type recorder struct {
	mu     sync.Mutex
	header http.Header
	body   bytes.Buffer
	status int
	err    error // of the next write
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(s int)   { r.status = s }
func (r *recorder) Flush()              {}
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	return r.body.Write(p)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body.String()
}

func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func newEntry(kind runlog.Kind, data string) runlog.Entry {
	return runlog.Entry{Kind: kind, Data: []byte(data)}
}

func TestServeWritesLog(t *testing.T) {
	l := runlog.NewMemory()
	if _, err := l.Append(t.Context(), "a", 0, newEntry("status", "one"), newEntry("status", "two\nlines\r\nhere"), newEntry(runlog.KindFinished, "end")); err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	if err := sse.Serve(t.Context(), w, l.Follow(t.Context(), "a", 0), &echoRenderer{}, sse.Options{}); err != nil {
		t.Fatal(err)
	}
	want := "retry: 300\n\n" +
		"id: 1\ndata: one\n\n" +
		"id: 2\ndata: two\ndata: lines\ndata: here\n\n" +
		"id: 3\ndata: end\n\n"
	if got := w.text(); got != want {
		t.Errorf("stream:\n%q, want\n%q", got, want)
	}
	for name, value := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := w.header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := runlog.NewMemory()
		l.Append(t.Context(), "a", 0, newEntry("status", "one"))
		ctx, cancel := context.WithCancel(t.Context())
		w := newRecorder()
		go sse.Serve(ctx, w, l.Follow(ctx, "a", 0), &echoRenderer{}, sse.Options{})
		time.Sleep(3*sse.HeartbeatInterval + time.Second)
		synctest.Wait()
		if got := strings.Count(w.text(), ":\n\n"); got != 3 {
			t.Errorf("%d comments in 3 heartbeats: %q", got, w.text())
		}
		cancel()
		synctest.Wait()
		before := w.text()
		time.Sleep(3 * sse.HeartbeatInterval)
		if w.text() != before {
			t.Error("a comment came after the stream's end")
		}
	})
}

func frameDelay(int) time.Duration { return 16 * time.Millisecond }

func TestBatchDelayCollectsEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := runlog.NewMemory()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		last, _ := l.Append(ctx, "a", 0, newEntry(runlog.KindStarted, "start"))
		render := &echoRenderer{}
		w := newRecorder()
		go sse.Serve(ctx, w, l.Follow(ctx, "a", 0), render, sse.Options{BatchDelay: frameDelay})
		synctest.Wait()
		for range 100 {
			last, _ = l.Append(ctx, "a", last, newEntry("status", "tick"))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * frameDelay(0))
		synctest.Wait()
		if got := strings.Count(w.text(), "data: tick"); got != 100 {
			t.Errorf("%d of 100 events were told", got)
		}
		if render.batches > 10 {
			t.Errorf("100 events in 100 ms were %d steps", render.batches)
		}
		// What comes after a quiet frame is sent at once.
		steps := render.batches
		l.Append(ctx, "a", last, newEntry(runlog.KindAsked, "?"))
		synctest.Wait()
		if render.batches != steps+1 {
			t.Error("the question was held up")
		}
	})
}

func TestStalledReaderIsDropped(t *testing.T) {
	l := runlog.NewMemory()
	last, _ := l.Append(t.Context(), "a", 0, newEntry("status", strings.Repeat("x", 1<<20)))
	ended := make(chan error, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The test does not wait for the real deadline: it sets one that has
		// passed as soon as a write blocks.
		short := shortDeadlineWriter{w}
		ended <- sse.Serve(r.Context(), short, l.Follow(r.Context(), "a", 0), &echoRenderer{}, sse.Options{})
	}))
	server.Start()
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) // and never reads
	// The writer is not slowed: what follows is appended at once.
	for range 50 {
		last, err = l.Append(t.Context(), "a", last, newEntry("status", strings.Repeat("x", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err == nil {
		t.Error("the stream ended as if its reader had read it")
	}
}

// shortDeadlineWriter shortens the deadline of every write.
type shortDeadlineWriter struct{ http.ResponseWriter }

func (s shortDeadlineWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
func (s shortDeadlineWriter) SetWriteDeadline(time.Time) error {
	return http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
}

func TestFailedWriteEndsStream(t *testing.T) {
	l := runlog.NewMemory()
	l.Append(t.Context(), "a", 0, newEntry("status", "one"))
	w := newRecorder()
	w.err = errors.New("gone")
	err := sse.Serve(t.Context(), w, l.Follow(t.Context(), "a", 0), &echoRenderer{}, sse.Options{})
	if !errors.Is(err, w.err) {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestLogErrorsEndStream(t *testing.T) {
	broken := errors.New("broken")
	var batches iter.Seq2[[]runlog.Entry, error] = func(yield func([]runlog.Entry, error) bool) { yield(nil, broken) }
	if err := sse.Serve(t.Context(), newRecorder(), batches, &echoRenderer{}, sse.Options{}); !errors.Is(err, broken) {
		t.Errorf("the stream ended with %v", err)
	}
}

// TestDamagedLogEndsStream checks that a stream whose log has a hole ends with an
// error that says where.
func TestDamagedLogEndsStream(t *testing.T) {
	r := httptest.NewRecorder()
	hole := fmt.Errorf("log: run r: %w: entries 2 to 4 are missing", runlog.ErrCorrupt)
	err := sse.Serve(t.Context(), r, func(yield func([]runlog.Entry, error) bool) { yield(nil, hole) }, sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "r", PhotonName: "tool", Source: source{}}, 0), sse.Options{})
	const want = `data: {"jsonrpc":"2.0","id":"r","error":{"code":-32603,"message":"log: run r: the log is damaged: entries 2 to 4 are missing"}}`
	if !errors.Is(err, hole) || !strings.Contains(r.Body.String(), want) {
		t.Errorf("%v: %s", err, r.Body)
	}
}

func TestResumeAfter(t *testing.T) {
	tests := []struct {
		url, header string
		want        uint64
		ok          bool
	}{
		{"/", "", 0, true},
		{"/?after=7", "", 7, true},
		{"/?after=7", "9", 9, true},
		{"/", "9", 9, true},
		{"/", "nine", 0, false},
		{"/?after=-1", "", 0, false},
		{"/?after=99999999999999999999", "", 0, false},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("GET", tt.url, nil)
		if tt.header != "" {
			r.Header.Set("Last-Event-ID", tt.header)
		}
		if got, err := sse.ResumeAfter(r); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s with %q: %d, %v", tt.url, tt.header, got, err)
		}
	}
}

// TestManyFollowers checks that each of many followers of a run gets everything,
// once and in order.
func TestManyFollowers(t *testing.T) {
	l := runlog.NewMemory()
	last, _ := l.Append(t.Context(), "a", 0, newEntry(runlog.KindStarted, "0"))
	var wg sync.WaitGroup
	outs := make([]*recorder, 100)
	for i := range outs {
		outs[i] = newRecorder()
		var o sse.Options
		if i%2 == 0 {
			o.BatchDelay = frameDelay
		}
		wg.Go(func() {
			sse.Serve(t.Context(), outs[i], l.Follow(t.Context(), "a", 0), &echoRenderer{}, o)
		})
	}
	for range 200 {
		last, _ = l.Append(t.Context(), "a", last, newEntry("status", "x"))
	}
	l.Append(t.Context(), "a", last, newEntry(runlog.KindFinished, "end"))
	wg.Wait()
	texts := make([]string, len(outs))
	for i, w := range outs {
		texts[i] = w.text()
	}
	if len(slices.Compact(texts)) != 1 || strings.Count(texts[0], "\nid: ")+1 < 202 {
		t.Error("followers were told different things, or not all")
	}
}
