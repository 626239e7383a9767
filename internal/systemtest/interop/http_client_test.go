package interop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// An httpClient sends single HTTP requests to the endpoint.
type httpClient struct {
	t       *testing.T
	ctx     context.Context
	url     string
	session string
	version string
}

func newHTTPClient(t *testing.T, h *programServer, version string) *httpClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	t.Cleanup(cancel)
	v := &httpClient{t: t, ctx: ctx, url: h.url, version: version}
	if version == version20260728 {
		return v
	}
	r := v.postMessage(initializeLine(version), nil)
	if v.session = r.Header.Get("Mcp-Session-Id"); r.StatusCode != http.StatusOK || v.session == "" {
		t.Fatalf("initialize: %s, session %q", r.Status, v.session)
	}
	io.Copy(io.Discard, r.Body)
	v.expectStatus(v.postMessage(initializedLine, nil), http.StatusAccepted)
	return v
}

// sendRequest sends a request with the headers that every client sends, except for
// those given; it leaves out empty ones. The test closes the body at its end.
func (v *httpClient) sendRequest(ctx context.Context, method, body string, changed map[string]string) *http.Response {
	v.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, v.url, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	headers := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": v.session,
	}
	if v.session != "" || v.version == version20260728 {
		headers["Mcp-Protocol-Version"] = v.version
	}
	if v.version == version20260728 {
		var m struct {
			Method string
			Params struct{ Name string }
		}
		json.Unmarshal([]byte(body), &m)
		headers["Mcp-Method"], headers["Mcp-Name"] = m.Method, m.Params.Name
	}
	for name, value := range changed {
		headers[name] = value
	}
	for name, value := range headers {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (v *httpClient) postMessage(body string, changed map[string]string) *http.Response {
	v.t.Helper()
	return v.sendRequest(v.ctx, http.MethodPost, body, changed)
}

func (v *httpClient) expectStatus(r *http.Response, want int) string {
	v.t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != want {
		v.t.Errorf("%s %v %s, want the status %d", r.Status, err, body, want)
	}
	return string(body)
}

// An eventStream is a response of server-sent events.
type eventStream struct {
	t           *testing.T
	reader      *bufio.Reader
	lastEventID string // id of the last event
}

func (v *httpClient) readEvents(r *http.Response) *eventStream {
	v.t.Helper()
	if kind := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || kind != "text/event-stream" {
		body, _ := io.ReadAll(r.Body)
		v.t.Fatalf("%s %s %s, want a stream", r.Status, kind, body)
	}
	return &eventStream{t: v.t, reader: bufio.NewReader(r.Body)}
}

// nextMessage returns the next message.
func (s *eventStream) nextMessage() serverMessage {
	s.t.Helper()
	for {
		line, err := s.reader.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimRight(line, "\n")
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			s.lastEventID = id
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "" {
			m := serverMessage{line: data}
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				s.t.Fatalf("this is no message: %s", data)
			}
			return m
		}
	}
}

// nextMessageWithID returns the next request or response, and skips notifications.
func (s *eventStream) nextMessageWithID() serverMessage {
	s.t.Helper()
	for {
		if m := s.nextMessage(); m.ID != nil {
			return m
		}
	}
}
