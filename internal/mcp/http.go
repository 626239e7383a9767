package mcp

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/mcp/calls"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/streamable"
)

// sessionHeader carries the session id over HTTP (MCP 2025-03-26 to 2025-11-25).
const sessionHeader = "Mcp-Session-Id"

// An httpHandler serves the MCP endpoint; see [Server.ServeHTTP].
type httpHandler struct {
	dispatcher *dispatcher
	sessions   *sessions
	calls      *calls.Service
	streams    *budget.Budget // of callers
	closed     context.Context
}

// serve serves an HTTP request.
func (h *httpHandler) serve(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	switch r.Method {
	case http.MethodPost:
		h.servePost(w, r, caller, origin)
	case http.MethodGet:
		h.serveGet(w, r, caller, origin)
	case http.MethodDelete:
		h.serveDelete(w, r, caller, origin)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		streamable.WriteError(w, http.StatusMethodNotAllowed, nil, msg.Errorf(mcp.INVALID_REQUEST, "the MCP endpoint takes POST, GET and DELETE, not %s", r.Method))
	}
}

// sessionForMessage returns the session of a message, and opens one for initialize. It
// writes an error response and reports false if there is none.
func (h *httpHandler) sessionForMessage(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string, m msg.Incoming) (*session.Session, bool) {
	params, _ := requests.ParseParams(m)
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	pages := func() (string, error) { return origin, nil }
	switch {
	case mcp.IsModernProtocol(version), mcp.IsModernProtocol(params.Meta.ProtocolVersion()):
		return session.New("", caller, pages), true
	case m.Method == string(mcp.MethodInitialize) && m.IsRequest():
		sess, err := h.sessions.open(caller, callers.IsSignedIn(caller), pages)
		if err != nil {
			w.Header().Set("Retry-After", "60")
			streamable.WriteError(w, http.StatusServiceUnavailable, &m, msg.Errorf(mcp.INTERNAL_ERROR, "%v", err))
			return nil, false
		}
		w.Header().Set(sessionHeader, sess.ID)
		return sess, true
	case version != "" && version != mcp.ProtocolVersion20241105 && !requests.IsSupported(version):
		streamable.WriteError(w, http.StatusBadRequest, &m, unsupportedVersionError(version))
		return nil, false
	}
	return h.requireSession(w, r, caller, origin, &m)
}

// requireSession returns the session that a request names. It writes an error response
// and reports false if there is none.
func (h *httpHandler) requireSession(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string, m *msg.Incoming) (*session.Session, bool) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		streamable.WriteError(w, http.StatusBadRequest, m, msg.Errorf(mcp.INVALID_REQUEST, "%s is missing: initialize returns one", sessionHeader))
		return nil, false
	}
	sess, err := h.sessions.find(id, caller, func() (string, error) { return origin, nil })
	switch {
	case errors.Is(err, errTooManySessions):
		w.Header().Set("Retry-After", "60")
		streamable.WriteError(w, http.StatusServiceUnavailable, m, msg.Errorf(mcp.INTERNAL_ERROR, "%v", err))
		return nil, false
	case err != nil:
		w.Header().Set("Retry-After", "1")
		streamable.WriteError(w, http.StatusServiceUnavailable, m, errUnavailable)
		return nil, false
	case sess == nil:
		streamable.WriteError(w, http.StatusNotFound, m, msg.Errorf(mcp.INVALID_REQUEST, "there is no such session: start a new one with initialize"))
		return nil, false
	}
	return sess, true
}

// serveGet opens the stream for messages that belong to no request, or resumes the
// stream of a call.
func (h *httpHandler) serveGet(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	if !streamable.Accepts(r, "text/event-stream") || r.Header.Get("Accept") == "" {
		streamable.WriteError(w, http.StatusNotAcceptable, nil, msg.Errorf(mcp.INVALID_REQUEST, "Accept must list text/event-stream"))
		return
	}
	if refuseModern(w, r) {
		return
	}
	sess, ok := h.requireSession(w, r, caller, origin, nil)
	if !ok {
		return
	}
	release, ok := h.acquireStream(w, caller, nil)
	if !ok {
		return
	}
	defer release()
	if cursor := r.Header.Get("Last-Event-ID"); cursor != "" {
		h.serveResumedStream(w, r, sess, cursor)
		return
	}
	out := streamable.NewResponse(w, false)
	defer out.Close()
	ctx, end := sess.Stream.Open(r.Context(), out)
	defer end()
	defer context.AfterFunc(h.closed, end)()
	if out.OpenEvents() != nil {
		return
	}
	_ = sess.Changes.SendNotifications(ctx, nil, sendTo(out)) // its error means that the client is gone
}

// acquireStream takes a stream of the caller's budget until release is called. It writes an
// error response and reports false if there is none left. m is the request, if it is known.
func (h *httpHandler) acquireStream(w http.ResponseWriter, caller generators.Caller, m *msg.Incoming) (release func(), ok bool) {
	release, err := h.streams.Acquire(caller.ID)
	var exceeded *budget.ExceededError
	if errors.As(err, &exceeded) {
		w.Header().Set("Retry-After", strconv.Itoa(int(exceeded.RetryAfter.Seconds())))
		streamable.WriteError(w, exceeded.Status(), m, msg.Errorf(mcp.INTERNAL_ERROR, "%v", exceeded))
		return nil, false
	}
	return release, true
}

// serveResumedStream continues a call whose stream broke off.
func (h *httpHandler) serveResumedStream(w http.ResponseWriter, r *http.Request, sess *session.Session, cursor string) {
	id, seq, ticket, ok := calls.ParseCursor(cursor)
	c := sess.Calls.Find(id)
	if c == nil && ticket != "" {
		c = h.calls.Rejoin(sess, id, ticket)
	}
	if !ok || c == nil || !c.HasEntry(seq) {
		streamable.WriteError(w, http.StatusBadRequest, nil, msg.Errorf(mcp.INVALID_REQUEST, "Last-Event-ID belongs to no stream of this session"))
		return
	}
	out := streamable.NewResponse(w, false)
	defer out.Close()
	if out.OpenEvents() != nil {
		return
	}
	inFlight, refused := sess.Requests.Register(r.Context(), c.RequestID())
	if refused != nil { // the server has not noticed yet that the earlier stream broke off
		inFlight = sess.Requests.Replace(r.Context(), c.RequestID())
	}
	defer sess.Requests.Finish(inFlight)
	defer h.calls.KeepPresent(sess, c)()
	finishResponse(c.Resume(out, inFlight, seq), out, http.StatusOK)
}

// serveDelete ends a session.
func (h *httpHandler) serveDelete(w http.ResponseWriter, r *http.Request, caller generators.Caller, origin string) {
	if refuseModern(w, r) {
		return
	}
	sess, ok := h.requireSession(w, r, caller, origin, nil)
	if !ok {
		return
	}
	if err := h.sessions.delete(sess); err != nil {
		streamable.WriteError(w, http.StatusServiceUnavailable, nil, errUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// refuseModern refuses a GET or DELETE in the modern era, which has only POST.
func refuseModern(w http.ResponseWriter, r *http.Request) bool {
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		return false
	}
	w.Header().Set("Allow", "POST")
	streamable.WriteError(w, http.StatusMethodNotAllowed, nil, msg.Errorf(mcp.INVALID_REQUEST, "protocol version %s has only POST; use subscriptions/listen for changes", mcp.ProtocolVersion20260728))
	return true
}
