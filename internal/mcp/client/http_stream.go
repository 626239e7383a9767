package client

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	defaultRetry = time.Second
	maxRetry     = time.Minute
	// maxEmptyStreams is how often in a row a stream is resumed that has no events.
	maxEmptyStreams = 5
)

// A streamState is what is needed to resume a stream.
type streamState struct {
	lastID string
	retry  time.Duration
	events int // since it was last resumed
}

// read passes the messages of a stream on until it ends or ctx does. The error is what
// the server did wrong.
func (st *streamState) read(ctx context.Context, t *httpTransport, response *http.Response, x *pendingRequest) error {
	events := newEventReader(response.Body)
	st.events = 0
	for ctx.Err() == nil {
		e, err := events.next()
		if errors.Is(err, errEventTooLarge) {
			return err
		}
		if err != nil {
			return nil
		}
		st.events++
		if e.id != "" {
			st.lastID = e.id
		}
		if e.retry > 0 {
			st.retry = min(e.retry, maxRetry)
		}
		if e.name == "message" && len(e.data) > 0 {
			t.session.receive(e.data, x)
		}
	}
	return nil
}

// wait waits before the stream is resumed. It reports false if ctx has ended.
func (st *streamState) wait(ctx context.Context, times int) bool {
	d := st.retry
	if d == 0 {
		d = defaultRetry
	}
	d = min(d<<min(times, 10), max(maxRetry, d))
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// followStream reads the stream of a request until its response, and resumes it if it
// ends before.
func (t *httpTransport) followStream(response *http.Response, x *pendingRequest) {
	var st streamState
	err := st.read(x.ctx, t, response, x)
	response.Body.Close()
	for empty := 0; err == nil && x.ctx.Err() == nil; {
		if st.lastID == "" || isModern(t.currentVersion()) {
			err = errors.New("the server's stream ended before its response")
			break
		}
		if empty == maxEmptyStreams {
			err = fmt.Errorf("the server's stream ended before its response, and resuming it %d times brought nothing", empty)
			break
		}
		if !st.wait(x.ctx, empty) {
			return
		}
		resumed, refused := t.get(x.ctx, st.lastID)
		var status *statusError
		switch {
		case errors.As(refused, &status):
			err = fmt.Errorf("the server's stream ended before its response, and can't be resumed: %w", refused)
		case refused != nil:
			empty++
		default:
			err = st.read(x.ctx, t, resumed, x)
			resumed.Body.Close()
			if empty++; st.events > 0 {
				empty = 0
			}
		}
	}
	if err != nil {
		x.finish(nil, err)
	}
}

// get opens a stream, after the event with the id lastID unless that is empty.
func (t *httpTransport) get(ctx context.Context, lastID string) (*http.Response, error) {
	r, err := t.newRequest(ctx, http.MethodGet, nil, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set(mcp.HeaderLastEventID, lastID)
	}
	response, err := t.do(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		defer drain(response)
		return nil, &statusError{status: response.StatusCode}
	}
	return response, nil
}

// listen reads the stream of what belongs to no request, until the session ends or the
// server has no such stream.
func (t *httpTransport) listen() {
	t.mu.Lock()
	id := t.sessionID
	t.mu.Unlock()
	ctx := t.session.ctx
	var st streamState
	for empty := 0; ctx.Err() == nil; {
		response, err := t.get(ctx, st.lastID)
		var status *statusError
		switch {
		case errors.As(err, &status):
			if status.status == http.StatusNotFound && id != "" {
				_ = t.renew(ctx, id) // which listens again
			}
			return
		case err != nil:
			t.endIfUnreachable(err)
		default:
			err = st.read(ctx, t, response, nil)
			response.Body.Close()
			if err != nil {
				t.session.fault("its stream: %v", err)
			}
			if st.events > 0 {
				empty = 0
			}
		}
		if !st.wait(ctx, empty) {
			return
		}
		empty = min(empty+1, 10)
		if t.currentSession() != id {
			return
		}
	}
}

func (t *httpTransport) currentVersion() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

func (t *httpTransport) currentSession() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessionID
}

// renew begins a new session after the server has forgotten the one with an id.
func (t *httpTransport) renew(ctx context.Context, forgotten string) error {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	if t.currentSession() != forgotten {
		return nil // somebody else has renewed it
	}
	t.session.withdrawRequests(errors.New("the server forgot the session"))
	if err := (handshake{t.session}).reinitialize(ctx); err != nil {
		return err
	}
	t.session.options.HandleRenewed()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isClosed {
		t.running.Go(t.listen)
	}
	return nil
}
