package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// An sseTransport is the transport of 2024-11-05: one stream carries all messages of the
// server, and names the address that messages to it are posted to (MCP, Transports, HTTP
// with SSE).
type sseTransport struct {
	session  *Session
	base     *httpTransport // makes the requests
	endpoint string
	stream   *http.Response
	ended    chan struct{} // closed when the stream has ended

	mu       sync.Mutex
	isClosed bool
	running  sync.WaitGroup
}

var _ transport = (*sseTransport)(nil)

// endpointTimeout is how long the server may take to name its endpoint.
const endpointTimeout = 10 * time.Second

// mayBeOldSSE reports whether the error is that of a server which may have the transport
// of 2024-11-05 only.
func mayBeOldSSE(err error) bool {
	var status *statusError
	return errors.As(err, &status) && (status.status == http.StatusBadRequest || status.status == http.StatusNotFound || status.status == http.StatusMethodNotAllowed)
}

// openSSE opens the stream and waits for the endpoint. It speaks no newer versions.
func openSSE(ctx context.Context, s *Session, server Target) (transport, error) {
	t := &sseTransport{session: s, base: newHTTPTransport(s, server), ended: make(chan struct{})}
	s.options.Versions = legacyVersions
	streamCtx, cancel := context.WithCancel(s.ctx)
	timer := time.AfterFunc(endpointTimeout, cancel)
	stop := context.AfterFunc(ctx, cancel)
	events, err := t.open(streamCtx, server)
	if inTime, wanted := timer.Stop(), stop(); err == nil && (!inTime || !wanted) {
		err = errNoEndpoint
	}
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		t.read(events)
	}()
	return t, nil
}

var errNoEndpoint = errors.New("the server's stream doesn't begin with an endpoint")

// open opens the stream, which ends with ctx, and reads the endpoint.
func (t *sseTransport) open(ctx context.Context, server Target) (*eventReader, error) {
	var err error
	if t.stream, err = t.base.get(ctx, ""); err != nil {
		return nil, err
	}
	events := newEventReader(t.stream.Body)
	e, err := events.next()
	if err != nil || e.name != "endpoint" {
		t.stream.Body.Close()
		return nil, errNoEndpoint
	}
	if t.endpoint, err = resolveEndpoint(server.URL, string(e.data)); err != nil {
		t.stream.Body.Close()
		return nil, err
	}
	return events, nil
}

// resolveEndpoint returns the address of the endpoint, which must have the origin of the
// stream: the configured headers are sent there.
func resolveEndpoint(stream, endpoint string) (string, error) {
	base, err := url.Parse(stream)
	if err != nil {
		return "", errors.New("its url is not valid")
	}
	u, err := base.Parse(endpoint)
	if err != nil || u.Scheme != base.Scheme || u.Host != base.Host {
		return "", fmt.Errorf("the server's endpoint is not at %s://%s", base.Scheme, base.Host)
	}
	return u.String(), nil
}

func (t *sseTransport) read(events *eventReader) {
	defer close(t.ended)
	for {
		e, err := events.next()
		if err != nil {
			t.session.End(fmt.Errorf("the server's stream ended: %w", err))
			return
		}
		if e.name == "message" && len(e.data) > 0 {
			t.session.receive(e.data, nil)
		}
	}
}

// send implements [transport].
func (t *sseTransport) send(raw []byte, x *pendingRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed {
		return
	}
	t.running.Go(func() { t.post(raw, x) })
}

// sendNow implements [transport].
func (t *sseTransport) sendNow(raw []byte) { t.post(raw, nil) }

func (t *sseTransport) post(raw []byte, x *pendingRequest) {
	ctx, cancel := context.WithTimeout(t.session.ctx, notifyTimeout)
	defer cancel()
	fail := func(err error) {
		if x == nil {
			t.session.fault("a message couldn't be sent to it: %v", err)
			return
		}
		x.finish(nil, err)
	}
	r, err := t.base.newRequest(ctx, http.MethodPost, raw, x)
	if err == nil {
		r.URL, err = url.Parse(t.endpoint)
	}
	if err != nil {
		fail(err)
		return
	}
	response, err := t.base.do(r)
	if err != nil {
		fail(err)
		return
	}
	defer drain(response)
	if response.StatusCode >= 300 {
		fail(readStatusError(response))
	}
}

// setVersion implements [transport].
func (t *sseTransport) setVersion(version string) {
	t.base.mu.Lock()
	defer t.base.mu.Unlock()
	t.base.version = version
}

// close implements [transport].
func (t *sseTransport) close(time.Duration) {
	t.mu.Lock()
	t.isClosed = true
	t.mu.Unlock()
	t.running.Wait()
	t.stream.Body.Close()
	<-t.ended
	t.base.client.CloseIdleConnections()
}
