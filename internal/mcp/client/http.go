package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

const (
	// notifyTimeout is how long the server may take to accept a notification or a
	// response.
	notifyTimeout = 30 * time.Second
	// maxErrorBody is how much of the body of an error is read, in bytes.
	maxErrorBody = 64 << 10
)

// An httpTransport is the transport to a server over streamable HTTP, of all versions
// (MCP, Transports, Streamable HTTP).
type httpTransport struct {
	session *Session
	url     string
	headers map[string]string // of the configuration
	client  *http.Client
	running sync.WaitGroup // requests in progress

	renewing sync.Mutex // held while a new session is begun

	mu        sync.Mutex
	version   string // of the protocol; empty until it is agreed on
	sessionID string
	isClosed  bool
}

var _ transport = (*httpTransport)(nil)

func newHTTPTransport(s *Session, server Target) *httpTransport {
	return &httpTransport{session: s, url: server.URL, headers: server.Headers, client: newHTTPClient(s.options.HTTP)}
}

// newHTTPClient returns a client that follows no redirects: they would take the
// configured headers elsewhere.
func newHTTPClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 100
		t.MaxResponseHeaderBytes = 64 << 10
		t.DisableCompression = true
		transport = t
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// An unreachableError is the error of a server that no connection can be made to.
type unreachableError struct{ cause error }

func (e *unreachableError) Error() string { return "the server can't be reached: " + e.cause.Error() }
func (e *unreachableError) Unwrap() error { return e.cause }

// A statusError is an HTTP status that says that a request failed.
type statusError struct {
	status int
	text   string
}

// StatusOf returns the HTTP status that an error reports; 0 if there is none.
func StatusOf(err error) int {
	var e *statusError
	if errors.As(err, &e) {
		return e.status
	}
	return 0
}

func (e *statusError) Error() string {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the server requires other credentials (HTTP status %d): set them as its headers", e.status)
	}
	if e.status >= 300 && e.status < 400 {
		return fmt.Sprintf("the server redirects elsewhere (HTTP status %d): set that as its url", e.status)
	}
	if e.text == "" {
		return fmt.Sprintf("HTTP status %d", e.status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.status, e.text)
}

// send implements [transport].
func (t *httpTransport) send(raw []byte, x *pendingRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed {
		return
	}
	t.running.Go(func() {
		if x == nil {
			t.sendNow(raw)
			return
		}
		t.roundTrip(raw, x, true)
	})
}

// sendNow implements [transport].
func (t *httpTransport) sendNow(raw []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.session.ctx), notifyTimeout)
	defer cancel()
	wait := 100 * time.Millisecond
	for range 4 {
		response, err := t.post(ctx, raw, nil)
		if err == nil {
			drain(response)
			return
		}
		select {
		case <-time.After(wait):
			wait *= 4
		case <-t.session.ctx.Done():
			return
		}
	}
	t.session.fault("a message couldn't be sent to it")
}

// setVersion implements [transport].
func (t *httpTransport) setVersion(version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = version
	if !isModern(version) && !t.isClosed {
		t.running.Go(t.listen)
	}
}

// close implements [transport].
func (t *httpTransport) close(grace time.Duration) {
	t.mu.Lock()
	wasClosed := t.isClosed
	t.isClosed = true
	id := t.sessionID
	t.mu.Unlock()
	if !wasClosed && id != "" {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if r, err := t.newRequest(ctx, http.MethodDelete, nil, nil); err == nil {
			if response, err := t.client.Do(r); err == nil {
				drain(response)
			}
		}
	}
	done := make(chan struct{})
	go func() { t.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(grace):
	}
	t.client.CloseIdleConnections()
}

// newRequest returns a request with the headers that every one has.
func (t *httpTransport) newRequest(ctx context.Context, method string, body []byte, x *pendingRequest) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, t.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its url is not valid")
	}
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	t.mu.Lock()
	version, id := t.version, t.sessionID
	t.mu.Unlock()
	if x != nil && x.method == string(mcp.MethodServerDiscover) {
		version = modernVersion
	}
	if x != nil && x.method == string(mcp.MethodInitialize) {
		version, id = "", ""
	}
	if version != "" {
		r.Header.Set(mcp.HeaderProtocolVersion, version)
	}
	if id != "" {
		r.Header.Set(mcp.HeaderSessionID, id)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		setStandardHeaders(r.Header, version, body, x)
	}
	return r, nil
}

// post posts a message.
func (t *httpTransport) post(ctx context.Context, raw []byte, x *pendingRequest) (*http.Response, error) {
	r, err := t.newRequest(ctx, http.MethodPost, raw, x)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	return t.do(r)
}

// do makes a request. The error has no URL, which may hold a secret.
func (t *httpTransport) do(r *http.Request) (*http.Response, error) {
	response, err := t.client.Do(r)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err != nil && r.Context().Err() == nil {
		err = &unreachableError{err}
	}
	return response, err
}

// roundTrip posts a request and handles what comes back. If the server doesn't know the
// session any more, and mayRenew is true, a new one is begun.
func (t *httpTransport) roundTrip(raw []byte, x *pendingRequest, mayRenew bool) {
	t.mu.Lock()
	id := t.sessionID
	t.mu.Unlock()
	response, err := t.post(x.ctx, raw, x)
	if err != nil {
		x.finish(nil, err)
		t.endIfUnreachable(err)
		return
	}
	defer drain(response)
	if x.method == string(mcp.MethodInitialize) && response.StatusCode == http.StatusOK {
		t.mu.Lock()
		t.sessionID = response.Header.Get(mcp.HeaderSessionID)
		t.mu.Unlock()
	}
	if response.StatusCode == http.StatusNotFound && id != "" && mayRenew && x.method != string(mcp.MethodInitialize) {
		drain(response)
		if err := t.renew(x.ctx, id); err != nil {
			x.finish(nil, fmt.Errorf("the server ended the session, and refused a new one: %w", err))
			return
		}
		t.roundTrip(raw, x, false)
		return
	}
	t.handleResponse(response, x)
}

// endIfUnreachable ends the session if nobody listens at the address any more, unless
// streams of requests are still open.
func (t *httpTransport) endIfUnreachable(err error) {
	var dial *net.OpError
	s := t.session
	if !errors.As(err, &dial) || dial.Op != "dial" {
		return
	}
	s.mu.Lock()
	isIdle := len(s.pending) == 0
	s.mu.Unlock()
	if isIdle {
		s.End(err)
	}
}

// handleResponse handles the response to a request.
func (t *httpTransport) handleResponse(response *http.Response, x *pendingRequest) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode == http.StatusOK && kind == "text/event-stream":
		t.followStream(response, x)
	case response.StatusCode == http.StatusOK && kind == "application/json":
		body, err := readBounded(response.Body, message.MaxSize)
		if err != nil {
			x.finish(nil, fmt.Errorf("reading the response: %w", err))
			return
		}
		t.session.receive(body, x)
		x.finish(nil, errors.New("the server's response is not one to the request"))
	case response.StatusCode == http.StatusOK, response.StatusCode == http.StatusAccepted:
		x.finish(nil, fmt.Errorf("the server responded to a request with HTTP status %d and no result", response.StatusCode))
	default:
		x.finish(nil, readStatusError(response))
	}
}

// readStatusError returns the error of a response: the server's own, if its body is a
// JSON-RPC error.
func readStatusError(response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	if m, invalid := message.Parse(body); invalid == nil && m.IsResponse() && m.Error != nil {
		return &jsonStatusError{statusError{status: response.StatusCode}, errorOf(m)}
	}
	if e := errorWithoutID(body); e != nil {
		return &jsonStatusError{statusError{status: response.StatusCode}, e}
	}
	text := ""
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/plain" {
		text = shorten(body)
	}
	return &statusError{response.StatusCode, text}
}

// A jsonStatusError is an HTTP status with a JSON-RPC error.
type jsonStatusError struct {
	statusError
	refused *message.Error
}

func (e *jsonStatusError) Error() string { return e.refused.Error() }
func (e *jsonStatusError) Unwrap() []error {
	return []error{e.refused, &e.statusError}
}

// readBounded reads at most max bytes; more are an error.
func readBounded(r io.Reader, max int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(body)) > max {
		err = errors.New("it is too large")
	}
	return body, err
}

// drain reads the short rest of a response, so that its connection can be used again,
// and closes it.
func drain(response *http.Response) {
	if response.ContentLength >= 0 && response.ContentLength <= maxErrorBody || response.StatusCode == http.StatusAccepted {
		_, _ = io.CopyN(io.Discard, response.Body, maxErrorBody)
	}
	response.Body.Close()
}
