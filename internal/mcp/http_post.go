package mcp

import (
	"context"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/streamable"
)

// servePost serves a message or a batch of messages.
func (h *httpHandler) servePost(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	body, ok := streamable.ReadBody(w, r)
	if !ok {
		return
	}
	if len(body) > 0 && body[0] == '[' {
		release, ok := h.acquireStream(w, caller, nil)
		if !ok {
			return
		}
		defer release()
		h.servePostedBatch(w, r, caller, origin, body)
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
		release, ok := h.acquireStream(w, caller, &m)
		if !ok {
			return
		}
		defer release()
	}
	sess, ok := h.sessionForMessage(w, r, caller, origin, m)
	if !ok {
		return
	}
	switch {
	case !m.IsRequest():
		streamable.WriteAccepted(w)
		h.handleOther(sess, m)
	default:
		h.servePostedRequest(w, r, sess, m)
	}
}

// handleOther handles a response or notification. What it is about may be another process's.
func (h *httpHandler) handleOther(sess *session.Session, m msg.Incoming) {
	shared := sess.Peers() != nil
	forward := func() { sess.Peers().Forward(sess.ID, m) }
	if m.IsResponse() {
		if !sess.Requests.HandleResponse(m) && shared {
			h.calls.HandleResponse(sess, m, forward)
		}
		return
	}
	sess.HandleNotification(m)
	if m.Method == string(mcp.MethodNotificationCancelled) && shared {
		forward()
	}
}

// servePostedRequest serves one request.
func (h *httpHandler) servePostedRequest(w http.ResponseWriter, r *http.Request, sess *session.Session, m msg.Incoming) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(h.closed, func() { cancel(requests.ErrSessionEnded) })()
	out := streamable.NewResponse(w, sendsPrimingEvents(sess))
	defer out.Close()
	pending := h.dispatcher.admit(ctx, sess, out, m, r.Header)
	reply := pending.Await()
	if m.Method == string(mcp.MethodInitialize) {
		reply = h.finishInitialize(sess, m, reply)
	}
	finishResponse(reply, out, httpStatus(sess, reply))
}

// finishInitialize keeps a session that initialize has begun, or forgets it. It returns the reply.
func (h *httpHandler) finishInitialize(sess *session.Session, m msg.Incoming, reply requests.Reply) requests.Reply {
	if reply.Code == 0 && sess.Peers() != nil {
		if err := h.sessions.peers.add(sess); err != nil {
			reply = requests.ErrorReply(m.ID, errUnavailable)
		}
	}
	if reply.Code != 0 {
		h.sessions.remove(sess)
	}
	return reply
}

// sendsPrimingEvents reports whether streams begin with an event to resume after (MCP
// 2025-11-25, Streamable HTTP). The version that initialize negotiated decides, not a
// request's header.
func sendsPrimingEvents(sess *session.Session) bool {
	c := sess.Client()
	return sess.Resumable && c != nil && c.VersionAtLeast(mcp.ProtocolVersion20251125)
}

// finishResponse ends a response over HTTP with a reply.
func finishResponse(r requests.Reply, out *streamable.Response, status int) {
	var write func(io.Writer, []byte) error
	if r.IsLarge() {
		write = func(w io.Writer, _ []byte) error { return r.WriteMessage(w) }
	}
	out.Finish(r.Message, write, r.Cursor, status)
}

// httpStatus returns the HTTP status of a reply that is not streamed. Before
// 2026-07-28, errors that belong to a request have status 200.
func httpStatus(sess *session.Session, r requests.Reply) int {
	if sess.ID != "" {
		return http.StatusOK
	}
	switch r.Code {
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
func (h *httpHandler) servePostedBatch(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string, body []byte) {
	sess, ok := h.requireSession(w, r, caller, origin, nil)
	if !ok {
		return
	}
	parts, refused := requests.SplitBatch(body, sess.Client())
	if refused != nil {
		streamable.WriteError(w, http.StatusBadRequest, nil, refused)
		return
	}
	out := streamable.NewResponse(w, false)
	defer out.Close()
	var replies []requests.Deferred
	for _, part := range parts {
		m, invalid := msg.Parse(part)
		switch {
		case invalid != nil && !m.IsNotification():
			replies = append(replies, requests.Immediate(requests.ErrorReply(m.ID, invalid)))
		case invalid != nil:
		case m.Method == string(mcp.MethodInitialize):
			replies = append(replies, requests.Immediate(requests.ErrorReply(m.ID, requests.ErrInitializeInBatch)))
		case !m.IsRequest():
			h.handleOther(sess, m)
		default:
			pending := h.dispatcher.admit(r.Context(), sess, out, m, r.Header)
			replies = append(replies, pending)
		}
	}
	if replies == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	finishResponse(requests.JoinReplies(replies), out, http.StatusOK)
}
