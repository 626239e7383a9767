package mcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/streamable"
)

// servePost serves a message or a batch of messages.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	body, ok := streamable.ReadBody(w, r)
	if !ok {
		return
	}
	if len(body) > 0 && body[0] == '[' {
		release, ok := s.acquireStream(w, caller, nil)
		if !ok {
			return
		}
		defer release()
		s.servePostedBatch(w, r, caller, body)
		return
	}
	m, invalid := msg.Parse(body)
	if invalid != nil {
		streamable.WriteError(w, http.StatusBadRequest, &m, invalid)
		return
	}
	if m.IsRequest() && (!streamable.Accepts(r, "application/json") || !streamable.Accepts(r, "text/event-stream")) {
		streamable.WriteError(w, http.StatusNotAcceptable, &m, msg.Errorf(mcp.INVALID_REQUEST, "Accept must list application/json and text/event-stream"))
		return
	}
	if m.IsRequest() {
		release, ok := s.acquireStream(w, caller, &m)
		if !ok {
			return
		}
		defer release()
	}
	sess, ok := s.sessionForMessage(w, r, caller, origin, m)
	if !ok {
		return
	}
	switch {
	case m.IsResponse():
		streamable.WriteAccepted(w)
		sess.requests.HandleResponse(m)
	case m.IsNotification():
		streamable.WriteAccepted(w)
		sess.handleNotification(m)
	default:
		s.servePostedRequest(w, r, sess, m)
	}
}

// servePostedRequest serves one request.
func (s *Server) servePostedRequest(w http.ResponseWriter, r *http.Request, sess *session, m msg.Incoming) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(requests.ErrSessionEnded) })()
	out := streamable.NewResponse(w, sess.sendsPrimingEvents())
	defer out.Close()
	pending := s.admitRequest(ctx, &requestContext{session: sess, sender: out}, m, r.Header)
	reply := pending.await()
	if m.Method == string(mcp.MethodInitialize) && reply.code != 0 {
		s.removeSession(sess)
	}
	reply.finish(out, httpStatus(sess, reply))
}

// httpStatus returns the HTTP status of a reply that is not streamed. Before
// 2026-07-28, errors that belong to a request have status 200.
func httpStatus(sess *session, r reply) int {
	if sess.id != "" {
		return http.StatusOK
	}
	switch r.code {
	case 0:
		return http.StatusOK
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.INTERNAL_ERROR:
		return http.StatusInternalServerError
	default:
		return http.StatusBadRequest
	}
}

// servePostedBatch serves a batch. Its responses form one JSON array.
func (s *Server) servePostedBatch(w http.ResponseWriter, r *http.Request, caller generators.Caller, body []byte) {
	sess, ok := s.requireSession(w, r, caller, nil)
	if !ok {
		return
	}
	parts, refused := splitBatch(body, sess.initializedClient())
	if refused != nil {
		streamable.WriteError(w, http.StatusBadRequest, nil, refused)
		return
	}
	out := streamable.NewResponse(w, false)
	defer out.Close()
	var replies []deferredReply
	for _, part := range parts {
		m, invalid := msg.Parse(part)
		switch {
		case invalid != nil && !m.IsNotification():
			replies = append(replies, immediateReply(errorReply(m.ID, invalid)))
		case invalid != nil:
		case m.Method == string(mcp.MethodInitialize):
			replies = append(replies, immediateReply(errorReply(m.ID, errInitializeInBatch)))
		case m.IsResponse():
			sess.requests.HandleResponse(m)
		case m.IsNotification():
			sess.handleNotification(m)
		default:
			pending := s.admitRequest(r.Context(), &requestContext{session: sess, sender: out}, m, r.Header)
			replies = append(replies, pending)
		}
	}
	if replies == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	joinReplies(replies).finish(out, http.StatusOK)
}
