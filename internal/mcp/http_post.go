package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/stdio"
)

// servePost serves a message or a batch of messages.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, caller engine.Caller, origin string) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if len(body) > 0 && body[0] == '[' {
		s.servePostedBatch(w, r, caller, body)
		return
	}
	m, invalid := msg.Parse(body)
	if invalid != nil {
		writeError(w, http.StatusBadRequest, &m, invalid)
		return
	}
	if m.IsRequest() && (!acceptsMediaType(r, "application/json") || !acceptsMediaType(r, "text/event-stream")) {
		writeError(w, http.StatusNotAcceptable, &m, msg.Errorf(mcp.INVALID_REQUEST, "Accept must list application/json and text/event-stream"))
		return
	}
	sess, ok := s.sessionForMessage(w, r, caller, origin, m)
	if !ok {
		return
	}
	switch {
	case m.IsResponse():
		writeAccepted(w)
		sess.handleResponse(m)
	case m.IsNotification():
		writeAccepted(w)
		sess.handleNotification(m)
	default:
		s.servePostedRequest(w, r, sess, m)
	}
}

// readBody reads the JSON that was posted. It writes an error response and reports false
// if it can't.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		writeError(w, http.StatusUnsupportedMediaType, nil, msg.Errorf(mcp.INVALID_REQUEST, "the body must be application/json"))
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, stdio.MaxMessageSize))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, nil, msg.Errorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", stdio.MaxMessageSize))
		return nil, false
	case err != nil:
		writeError(w, http.StatusBadRequest, nil, msg.Errorf(mcp.INVALID_REQUEST, "the body broke off"))
		return nil, false
	}
	return bytes.TrimSpace(body), true
}

// writeAccepted responds 202 before the message is handled. An answer may end the call
// it belongs to, and a client may then cancel everything that belongs to the call,
// including the request that carried the answer. Go's net/http client, when a request
// is cancelled just as its response arrives, can fail other requests on the same
// connection.
func writeAccepted(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush() // the client may be gone, but its message has arrived
}

// servePostedRequest serves one request.
func (s *Server) servePostedRequest(w http.ResponseWriter, r *http.Request, sess *session, m msg.Incoming) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(errSessionEnded) })()
	out := newResponseStream(w, sess.sendsPrimingEvents())
	defer out.close()
	if d := s.streamLimitFor(m); d > 0 && sess.sendsPrimingEvents() {
		defer out.endAfter(d, func() { cancel(errStreamLimit) })()
	}
	pending := s.admitRequest(ctx, &requestContext{session: sess, sender: out}, m, r.Header)
	reply := pending.await()
	if m.Method == string(mcp.MethodInitialize) && reply.code != 0 {
		s.removeSession(sess)
	}
	out.finish(reply, httpStatus(sess, reply))
}

// streamLimitFor returns how long the response to a request may hold its connection, or
// 0 for no limit.
func (s *Server) streamLimitFor(m msg.Incoming) time.Duration {
	if s.streamLimit == nil || m.Method != string(mcp.MethodToolsCall) {
		return 0
	}
	p, err := parseParams(m)
	if err != nil {
		return 0
	}
	return s.streamLimit(p.Name)
}

// errStreamLimit is the cause when a response has held its connection for the limit,
// and the client is to resume it.
var errStreamLimit = errors.New("the stream has reached its time limit")

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

// acceptsMediaType reports whether the request's Accept header includes a media type.
func acceptsMediaType(r *http.Request, kind string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	family, _, _ := strings.Cut(kind, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		switch accepted, _, _ := mime.ParseMediaType(part); accepted {
		case kind, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// servePostedBatch serves a batch. Its responses form one JSON array.
func (s *Server) servePostedBatch(w http.ResponseWriter, r *http.Request, caller engine.Caller, body []byte) {
	sess, ok := s.requireSession(w, r, caller, nil)
	if !ok {
		return
	}
	parts, refused := splitBatch(body, sess.initializedClient())
	if refused != nil {
		writeError(w, http.StatusBadRequest, nil, refused)
		return
	}
	out := newResponseStream(w, false)
	defer out.close()
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
			sess.handleResponse(m)
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
	out.finish(joinReplies(replies), http.StatusOK)
}
