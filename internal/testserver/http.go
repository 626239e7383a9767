package testserver

import (
	"crypto/rand"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/streamable"
)

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves the MCP endpoint over streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.servePost(w, r)
	case http.MethodGet:
		s.serveGet(w, r)
	case http.MethodDelete:
		s.endSession(r.Header.Get(sessionHeader))
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// servePost serves one message.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	body, ok := streamable.ReadBody(w, r)
	if !ok {
		return
	}
	m, invalid := msg.Parse(body)
	if invalid != nil {
		streamable.WriteError(w, http.StatusBadRequest, &m, invalid)
		return
	}
	sess := s.sessionOf(w, r, m)
	switch {
	case sess == nil:
		streamable.WriteError(w, http.StatusNotFound, &m, msg.Errorf(mcp.INVALID_REQUEST, "there is no such session"))
	case m.IsResponse():
		streamable.WriteAccepted(w)
		sess.handleResponse(m)
	case m.IsNotification():
		streamable.WriteAccepted(w)
		sess.handleNotification(m)
	default:
		ctx := r.Context()
		if sess.isInitialized() { // the end of a connection cancels nothing in a session
			ctx = sess.ctx
		}
		out := streamable.NewResponse(w, false)
		defer out.Close()
		out.Finish(s.serve(ctx, sess, out, m), nil, "", http.StatusOK)
	}
}

// sessionOf returns the session of a message, nil if it names one that doesn't exist.
// It opens one for initialize, and one for each modern request.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, m msg.Incoming) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.Header.Get(sessionHeader); id != "" {
		return s.sessions[id]
	}
	sess := s.newSession()
	if m.Method == string(mcp.MethodInitialize) {
		id := rand.Text()
		s.sessions[id] = sess
		w.Header().Set(sessionHeader, id)
	}
	return sess
}

// endSession ends a session, and with it the requests in it.
func (s *Server) endSession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[id]; sess != nil {
		delete(s.sessions, id)
		sess.end(errCancelled)
	}
}

// serveGet opens the stream of a session for messages that belong to no request.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sess := s.sessions[r.Header.Get(sessionHeader)]
	s.mu.Unlock()
	if sess == nil {
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	out := streamable.NewResponse(w, false)
	defer out.Close()
	if out.OpenEvents() != nil {
		return
	}
	sess.setStream(out)
	defer sess.setStream(nil)
	defer s.addStream(&stream{out: out, wants: sess.wantsChanges})()
	<-r.Context().Done()
}

func (s *session) setStream(out sender) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream = out
	select {
	case <-s.streamed:
	default:
		close(s.streamed)
	}
}
