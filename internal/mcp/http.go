package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// sessionHeader names a session over HTTP (MCP 2025-03-26 to 2025-11-25).
const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves the MCP endpoint (MCP, Transports, Streamable HTTP), for a
// caller who is known already: Host, Origin and credentials are the business of
// whoever mounts it. origin is the origin of Beam's pages as the client reaches
// them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request, caller engine.Caller, origin string) {
	switch r.Method {
	case http.MethodPost:
		s.servePost(w, r, caller, origin)
	case http.MethodGet:
		s.serveGet(w, r, caller)
	case http.MethodDelete:
		s.serveDelete(w, r, caller)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		writeError(w, http.StatusMethodNotAllowed, nil, rpcErrorf(mcp.INVALID_REQUEST, "the MCP endpoint takes POST, GET and DELETE, not %s", r.Method))
	}
}

// writeError answers with an error that is not a request's own.
func writeError(w http.ResponseWriter, status int, m *message, e *rpcError) {
	var body []byte
	if m != nil {
		body = encodeError(m.ID, e)
	} else {
		body = encodeError(nil, e)
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// servePost takes a message in, or a batch of them.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, caller engine.Caller, origin string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		writeError(w, http.StatusUnsupportedMediaType, nil, rpcErrorf(mcp.INVALID_REQUEST, "the body must be application/json"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessageSize))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		writeError(w, http.StatusRequestEntityTooLarge, nil, rpcErrorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", maxMessageSize))
		return
	case err != nil:
		writeError(w, http.StatusBadRequest, nil, rpcErrorf(mcp.INVALID_REQUEST, "the body broke off"))
		return
	}
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		s.servePostedBatch(w, r, caller, body)
		return
	}
	m, wrong := msg.Parse(body)
	if wrong != nil {
		writeError(w, http.StatusBadRequest, &m, wrong)
		return
	}
	if m.IsRequest() && (!acceptsMediaType(r, "application/json") || !acceptsMediaType(r, "text/event-stream")) {
		writeError(w, http.StatusNotAcceptable, &m, rpcErrorf(mcp.INVALID_REQUEST, "Accept must list application/json and text/event-stream"))
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

// writeAccepted says that a message was taken in, before anything comes of it: what an
// answer leads to ends the call, and with it clients end all that belongs to the
// call, the request with the answer too. One that is ended in the moment of its
// response can take others down that use its connection (net/http's clients).
func writeAccepted(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush() // a client that is gone has said its message
}

// sessionForMessage is the session that a message belongs to: a new one for initialize,
// one of its own in the modern era, else that of its Mcp-Session-Id. If there
// is none, it has been answered.
func (s *Server) sessionForMessage(w http.ResponseWriter, r *http.Request, caller engine.Caller, origin string, m message) (*session, bool) {
	params, _ := parseParams(m)
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	pages := func() (string, error) { return origin, nil }
	switch {
	case mcp.IsModernProtocol(version), mcp.IsModernProtocol(params.Meta.protocolVersion()):
		return s.newSession("", caller, pages), true
	case m.Method == string(mcp.MethodInitialize) && m.IsRequest():
		sess, err := s.openSession(caller, pages)
		if err != nil {
			w.Header().Set("Retry-After", "60")
			writeError(w, http.StatusServiceUnavailable, &m, rpcErrorf(mcp.INTERNAL_ERROR, "%v", err))
			return nil, false
		}
		sess.identified = r.Header.Get("Authorization") != "" // which whoever mounts us has checked
		w.Header().Set(sessionHeader, sess.id)
		return sess, true
	case version != "" && version != mcp.ProtocolVersion20241105 && !slices.Contains(supportedVersions, version):
		writeError(w, http.StatusBadRequest, &m, unsupportedVersionError(version))
		return nil, false
	}
	return s.requireSession(w, r, caller, &m)
}

// requireSession is the session that a request names.
func (s *Server) requireSession(w http.ResponseWriter, r *http.Request, caller engine.Caller, m *message) (*session, bool) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		writeError(w, http.StatusBadRequest, m, rpcErrorf(mcp.INVALID_REQUEST, "%s is missing: initialize gives one", sessionHeader))
		return nil, false
	}
	sess := s.findSession(id, caller)
	if sess == nil {
		writeError(w, http.StatusNotFound, m, rpcErrorf(mcp.INVALID_REQUEST, "there is no such session: begin a new one with initialize"))
		return nil, false
	}
	return sess, true
}

// servePostedRequest serves a request.
func (s *Server) servePostedRequest(w http.ResponseWriter, r *http.Request, sess *session, m message) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(errSessionEnded) })()
	out := newResponseStream(w, sess.sendsPrimingEvents())
	defer out.close()
	if d := s.streamLimitFor(m); d > 0 && sess.sendsPrimingEvents() {
		defer out.endAfter(d, func() { cancel(errStreamLimit) })()
	}
	work := s.admitRequest(ctx, &requestContext{session: sess, sender: out}, m, r.Header)
	reply := work.await()
	if m.Method == string(mcp.MethodInitialize) && reply.code != 0 {
		s.removeSession(sess)
	}
	out.finish(reply, httpStatus(sess, reply))
}

// streamLimitFor is how long the response to a request may hold its connection; 0
// is as long as it takes.
func (s *Server) streamLimitFor(m message) time.Duration {
	if s.streamLimit == nil || m.Method != string(mcp.MethodToolsCall) {
		return 0
	}
	p, err := parseParams(m)
	if err != nil {
		return 0
	}
	return s.streamLimit(p.Name)
}

// errStreamLimit: the client is to come back for the rest.
var errStreamLimit = errors.New("the client is to come back")

// httpStatus is the HTTP status of a reply that is not streamed. Before 2026-07-28
// an error that belongs to a request is a 200.
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

// acceptsMediaType tells whether a request's client takes a media type.
func acceptsMediaType(r *http.Request, kind string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	family, _, _ := strings.Cut(kind, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		switch got, _, _ := mime.ParseMediaType(part); got {
		case kind, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// servePostedBatch serves a batch. Its responses are one JSON array.
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
	var works []deferredReply
	for _, part := range parts {
		m, wrong := msg.Parse(part)
		switch {
		case wrong != nil && !m.IsNotification():
			works = append(works, immediateReply(errorReply(m.ID, wrong)))
		case wrong != nil:
		case m.Method == string(mcp.MethodInitialize):
			works = append(works, immediateReply(errorReply(m.ID, errInitializeInBatch)))
		case m.IsResponse():
			sess.handleResponse(m)
		case m.IsNotification():
			sess.handleNotification(m)
		default:
			work := s.admitRequest(r.Context(), &requestContext{session: sess, sender: out}, m, r.Header)
			works = append(works, work)
		}
	}
	if works == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out.finish(joinReplies(works), http.StatusOK)
}
