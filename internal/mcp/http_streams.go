package mcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// serveGet opens the stream for messages that belong to no request, or resumes the
// stream of a call.
func (s *Server) serveGet(w http.ResponseWriter, r *http.Request, caller engine.Caller) {
	if !acceptsMediaType(r, "text/event-stream") || r.Header.Get("Accept") == "" {
		writeError(w, http.StatusNotAcceptable, nil, msg.Errorf(mcp.INVALID_REQUEST, "Accept must list text/event-stream"))
		return
	}
	if refuseModern(w, r) {
		return
	}
	sess, ok := s.requireSession(w, r, caller, nil)
	if !ok {
		return
	}
	if cursor := r.Header.Get("Last-Event-ID"); cursor != "" {
		s.serveResumedStream(w, r, sess, cursor)
		return
	}
	ctx, end := sess.openStandaloneStream(r.Context())
	defer end()
	defer context.AfterFunc(s.closed, end)()
	out := newResponseStream(w, false)
	defer out.close()
	if out.openEvents() != nil {
		return
	}
	_ = sess.changes.SendNotifications(ctx, nil, sendTo(out)) // its error means that the client is gone
}

// serveResumedStream continues a call whose stream broke off.
func (s *Server) serveResumedStream(w http.ResponseWriter, r *http.Request, sess *session, cursor string) {
	id, seq, ok := parseCursor(cursor)
	c := sess.findResumableCall(id)
	if !ok || c == nil || !c.hasEntry(seq) {
		writeError(w, http.StatusBadRequest, nil, msg.Errorf(mcp.INVALID_REQUEST, "Last-Event-ID belongs to no stream of this session"))
		return
	}
	out := newResponseStream(w, false)
	defer out.close()
	if out.openEvents() != nil {
		return
	}
	inFlight, refused := sess.registerRequest(r.Context(), c.requestID)
	if refused != nil { // the server has not noticed yet that the earlier stream broke off
		inFlight = sess.replaceRequest(r.Context(), c.requestID)
	}
	defer sess.finishRequest(inFlight)
	out.finish(c.resumeOnStream(out, inFlight, seq), http.StatusOK)
}

// serveDelete ends a session.
func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request, caller engine.Caller) {
	if refuseModern(w, r) {
		return
	}
	sess, ok := s.requireSession(w, r, caller, nil)
	if !ok {
		return
	}
	s.removeSession(sess)
	w.WriteHeader(http.StatusNoContent)
}

// refuseModern refuses a GET or DELETE in the modern era, which has only POST.
func refuseModern(w http.ResponseWriter, r *http.Request) bool {
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		return false
	}
	w.Header().Set("Allow", "POST")
	writeError(w, http.StatusMethodNotAllowed, nil, msg.Errorf(mcp.INVALID_REQUEST, "protocol version %s has only POST; use subscriptions/listen for changes", version20260728))
	return true
}
