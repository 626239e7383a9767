// Package llmtest provides a model's server for tests, which speaks the Chat Completions
// API and fails as a test wants.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/llm"
)

// A Server is a model's server.
type Server struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	requests [][]byte
}

// New starts a server that handles each request with handle, until the test ends.
func New(t testing.TB, handle func(*Call)) *Server {
	s := &Server{t: t}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, body)
		n := len(s.requests)
		s.mu.Unlock()
		handle(&Call{Body: body, Request: r, N: n, w: w})
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// Requests returns the bodies that have arrived.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.requests...)
}

// Models returns one model of the server for each list of members of its JSON object,
// such as `"name":"m","retries":0`.
func (s *Server) Models(members ...string) *llm.Models {
	s.t.Helper()
	for i, m := range members {
		members[i] = fmt.Sprintf(`{"endpoint":%q,%s}`, s.URL+"/v1", m)
	}
	models, err := llm.Parse([]byte(`{"models":[` + strings.Join(members, ",") + `]}`))
	if err != nil {
		s.t.Fatal(err)
	}
	return models
}

// A Call is a request and its response.
type Call struct {
	Body    []byte
	Request *http.Request
	N       int // which request this is; the first is 1
	w       http.ResponseWriter
}

// Say sends text of a reply.
func (x *Call) Say(text string) {
	raw, _ := json.Marshal(text)
	x.Event(`{"model":"served","choices":[{"index":0,"delta":{"content":` + string(raw) + `}}]}`)
}

// Finish ends a reply of 12 tokens in and 3 out.
func (x *Call) Finish(reason string) {
	x.Event(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
	x.Event(`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}`)
	x.Event("[DONE]")
}

// Reply sends a whole reply.
func (x *Call) Reply(text string) {
	x.Say(text)
	x.Finish("stop")
}

// Event sends an event.
func (x *Call) Event(data string) { x.Raw("data: " + data + "\n\n") }

// Raw sends a part of the stream.
func (x *Call) Raw(text string) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(x.w, text)
	x.w.(http.Flusher).Flush()
}

// JSON sends an object in place of a stream.
func (x *Call) JSON(status int, body string, headers ...string) {
	x.w.Header().Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		x.w.Header().Set(headers[i], headers[i+1])
	}
	x.w.WriteHeader(status)
	io.WriteString(x.w, body)
}

// Refuse sends an error.
func (x *Call) Refuse(status int, message string, headers ...string) {
	raw, _ := json.Marshal(message)
	x.JSON(status, `{"error":{"message":`+string(raw)+`}}`, headers...)
}

// Cut breaks the connection.
func (x *Call) Cut() { panic(http.ErrAbortHandler) }

// WaitUntilGone waits until the client has ended the request.
func (x *Call) WaitUntilGone() { <-x.Request.Context().Done() }
