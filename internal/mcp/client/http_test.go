package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// An httpServer is a server whose tools/call a test handles. It counts its sessions.
type httpServer struct {
	t        *testing.T
	modern   bool
	call     func(w http.ResponseWriter, r *http.Request, m rawMessage)
	get      func(w http.ResponseWriter, r *http.Request) // with Last-Event-ID
	response func(m rawMessage)

	mu       sync.Mutex
	sessions int
	deleted  []string
	notified []rawMessage
}

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	current := fmt.Sprintf("session-%d", s.sessions)
	s.mu.Unlock()
	if r.Method == http.MethodDelete {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deleted = append(s.deleted, r.Header.Get("Mcp-Session-Id"))
		return
	}
	if r.Method == http.MethodGet {
		if r.Header.Get("Last-Event-ID") != "" && s.get != nil {
			s.get(w, r)
			return
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	m := readMessage(r)
	if !s.modern && m.Method != "initialize" && m.Method != "server/discover" && r.Header.Get("Mcp-Session-Id") != current {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "server/discover":
		if !s.modern {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		reply(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case "initialize":
		s.mu.Lock()
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", s.sessions))
		s.mu.Unlock()
		reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)
	case "tools/call":
		s.call(w, r, m)
	case "":
		w.WriteHeader(http.StatusAccepted)
		s.response(m)
	default:
		s.mu.Lock()
		s.notified = append(s.notified, m)
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	}
}

// sendEvents sends server-sent events and flushes them.
func sendEvents(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, format, args...)
	w.(http.Flusher).Flush()
}

func TestForgottenSessionIsBegunAgain(t *testing.T) {
	renewed := make(chan bool, 1)
	server := &httpServer{t: t, call: func(w http.ResponseWriter, r *http.Request, m rawMessage) {
		sendEvents(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
	}}
	s := connect(t, serveHTTP(t, server), func(o *client.Options) { o.HandleRenewed = func() { renewed <- true } })
	server.mu.Lock()
	server.sessions = 7 // the server forgets the session
	server.mu.Unlock()
	if result := call(t, s, "x", "{}", func(client.Event) {}); result != "{}" {
		t.Errorf("the result is %s", result)
	}
	<-renewed
	s.Close()
	if len(server.deleted) != 1 || server.deleted[0] != "session-8" {
		t.Errorf("the deleted sessions are %q", server.deleted)
	}
}

func TestBrokenStreamIsResumed(t *testing.T) {
	var broke time.Time
	var waited time.Duration
	var lastID string
	server := &httpServer{t: t}
	var id json.RawMessage
	server.call = func(w http.ResponseWriter, r *http.Request, m rawMessage) {
		id = m.ID
		sendEvents(w, "id: 1\nretry: 50\ndata:\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n: half an ev", m.ID)
		broke = time.Now()
	}
	server.get = func(w http.ResponseWriter, r *http.Request) {
		waited, lastID = time.Since(broke), r.Header.Get("Last-Event-ID")
		sendEvents(w, "id: 3\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":{\"resumed\":true}}\n\n", id)
	}
	s := connect(t, serveHTTP(t, server), nil)
	events := 0
	result := call(t, s, "x", "{}", func(client.Event) { events++ })
	if !strings.Contains(result, "resumed") || events != 1 || lastID != "2" || waited < 50*time.Millisecond {
		t.Errorf("the result is %s, after %d events; resumed after %q and %s", result, events, lastID, waited)
	}
}

func TestStreamThatCannotBeResumedFailsTheCall(t *testing.T) {
	for _, modern := range []bool{false, true} {
		server := &httpServer{t: t, modern: modern, call: func(w http.ResponseWriter, r *http.Request, m rawMessage) { sendEvents(w, ": nothing\n\n") }}
		s := connect(t, serveHTTP(t, server), nil)
		_, err := start(t.Context(), s, "x", "{}").Result()
		if err == nil || !strings.Contains(err.Error(), "ended before its response") {
			t.Errorf("the error is %v", err)
		}
	}
}

// Questions belong to the call on whose stream they come, whatever else is in progress.
func TestQuestionOnTheStreamOfACall(t *testing.T) {
	answers := make(chan rawMessage, 2)
	server := &httpServer{t: t, response: func(m rawMessage) { answers <- m }}
	server.call = func(w http.ResponseWriter, r *http.Request, m rawMessage) {
		name := rawMember(m.Params, "name")
		sendEvents(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"elicitation/create\",\"params\":{\"message\":%s}}\n\n", name, name)
		<-r.Context().Done()
	}
	s := connect(t, serveHTTP(t, server), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, name := range []string{"first", "second"} {
		c := start(ctx, s, name, "{}")
		r := nextRequest(t, c)
		if want := fmt.Sprintf(`{"message":%q}`, name); string(r.Params) != want {
			t.Errorf("the question is %s, want %s", r.Params, want)
		}
		r.Reply(json.RawMessage(`{"action":"accept"}`))
		if m := <-answers; string(m.ID) != fmt.Sprintf("%q", name) {
			t.Errorf("the answer's id is %s", m.ID)
		}
	}
}

func TestForgedIDOnAnotherStreamIsRefused(t *testing.T) {
	var victim json.RawMessage
	began := make(chan bool)
	server := &httpServer{t: t}
	server.call = func(w http.ResponseWriter, r *http.Request, m rawMessage) {
		if string(rawMember(m.Params, "name")) == `"victim"` {
			victim = m.ID
			began <- true
			<-r.Context().Done()
			return
		}
		sendEvents(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", victim, m.ID)
	}
	s := connect(t, serveHTTP(t, server), nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	c := start(ctx, s, "victim", "{}")
	<-began
	call(t, s, "forger", "{}", func(client.Event) {})
	cancel(errors.New("still waiting"))
	if _, err := c.Result(); err == nil || err.Error() != "still waiting" {
		t.Errorf("the call ended with %v", err)
	}
}

func TestCancelledCallOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		closed, began := make(chan bool), make(chan json.RawMessage)
		server := &httpServer{t: t, modern: modern, call: func(w http.ResponseWriter, r *http.Request, m rawMessage) {
			sendEvents(w, ": begun\n\n")
			began <- m.ID
			<-r.Context().Done()
			closed <- true
		}}
		s := connect(t, serveHTTP(t, server), nil)
		ctx, cancel := context.WithCancel(t.Context())
		c := start(ctx, s, "x", "{}")
		id := <-began
		cancel()
		<-closed
		if _, err := c.Result(); !errors.Is(err, context.Canceled) {
			t.Errorf("the call failed with %v", err)
		}
		s.Close()
		last := server.notified[len(server.notified)-1]
		if last.Method != "notifications/cancelled" || string(rawMember(last.Params, "requestId")) != string(id) {
			t.Errorf("the server was notified of %s %s", last.Method, last.Params)
		}
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	long := strings.Repeat("x", 17<<20)
	for name, send := range map[string]func(w http.ResponseWriter, m rawMessage){
		"a body": func(w http.ResponseWriter, m rawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, long)
		},
		"a line":  func(w http.ResponseWriter, m rawMessage) { sendEvents(w, "data: %s\n\n", long) },
		"an id":   func(w http.ResponseWriter, m rawMessage) { sendEvents(w, "id: %s\n\n", long[:1<<20]) },
		"an end":  func(w http.ResponseWriter, m rawMessage) { sendEvents(w, "data: %s", long) },
		"a field": func(w http.ResponseWriter, m rawMessage) { sendEvents(w, "%s\n\n", long) },
	} {
		t.Run(name, func(t *testing.T) {
			server := &httpServer{t: t, modern: true, call: func(w http.ResponseWriter, r *http.Request, m rawMessage) { send(w, m) }}
			s := connect(t, serveHTTP(t, server), nil)
			if _, err := start(t.Context(), s, "x", "{}").Result(); err == nil || !strings.Contains(err.Error(), "too large") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A server of 2024-11-05 that never begins its stream doesn't hold up who connects.
func TestSilentStreamEndsWithTheAttempt(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := client.Connect(ctx, client.Target{Name: "silent", Type: client.SSE, URL: h.URL}, client.Options{})
		done <- err
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("it connected")
	}
}

func TestHeadersOfModernRequests(t *testing.T) {
	var header http.Header
	server := &httpServer{t: t, modern: true, call: func(w http.ResponseWriter, r *http.Request, m rawMessage) {
		header = r.Header
		sendEvents(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
	}}
	config := serveHTTP(t, server)
	config.Headers = map[string]string{"Authorization": "Bearer of-the-configuration"}
	s := connect(t, config, nil)
	c := s.Call(t.Context(), client.Request{
		Method: "tools/call", Params: json.RawMessage(`{"name":"é","arguments":{"region":"eu","n":{"deep":7}}}`),
		Tool: json.RawMessage(`{"inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"object","properties":{"deep":{"type":"integer","x-mcp-header":"Deep"}}}}}}`),
	})
	if _, err := c.Result(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6k=?=",
		"Mcp-Param-Region": "eu", "Mcp-Param-Deep": "7", "Authorization": "Bearer of-the-configuration",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestSessionEndsWhenNobodyListens(t *testing.T) {
	server := &httpServer{t: t, modern: true}
	h := httptest.NewServer(server)
	s := connect(t, client.Target{URL: h.URL}, nil)
	h.Close()
	for range 3 { // the first may still use an open connection
		if _, err := start(t.Context(), s, "x", "{}").Result(); err == nil {
			t.Error("the call succeeded")
		}
	}
	select {
	case <-s.Done():
	case <-time.After(programtest.WaitTimeout):
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("the session's error is %v", err)
	}
}
