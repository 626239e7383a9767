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

	"github.com/photon-beam/beam/internal/run"
)

// sessionHeader names a session over HTTP (MCP 2025-03-26 to 2025-11-25).
const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves the MCP endpoint (MCP, Transports, Streamable HTTP), for a
// caller who is known already: Host, Origin and credentials are the business of
// whoever mounts it. origin is the origin of Beam's pages as the client reaches
// them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request, who run.Caller, origin string) {
	switch r.Method {
	case http.MethodPost:
		s.post(w, r, who, origin)
	case http.MethodGet:
		s.get(w, r, who)
	case http.MethodDelete:
		s.delete(w, r, who)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, nil, faultf(mcp.INVALID_REQUEST, "the MCP endpoint takes POST, GET and DELETE, not %s", r.Method))
	}
}

// refuse answers with an error that is not a request's own.
func refuse(w http.ResponseWriter, status int, m *message, e *rpcError) {
	var body []byte
	if m != nil {
		body = failure(m.ID, e)
	} else {
		body = failure(nil, e)
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// post takes a message in, or a batch of them.
func (s *Server) post(w http.ResponseWriter, r *http.Request, who run.Caller, origin string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, nil, faultf(mcp.INVALID_REQUEST, "the body must be application/json"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, nil, faultf(mcp.INVALID_REQUEST, "a message has at most %d bytes", maxMessage))
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, nil, faultf(mcp.INVALID_REQUEST, "the body broke off"))
		return
	}
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		s.postBatch(w, r, who, body)
		return
	}
	m, wrong := parse(body)
	if wrong != nil {
		refuse(w, http.StatusBadRequest, &m, wrong)
		return
	}
	if m.isRequest() && (!accepts(r, "application/json") || !accepts(r, "text/event-stream")) {
		refuse(w, http.StatusNotAcceptable, &m, faultf(mcp.INVALID_REQUEST, "Accept must list application/json and text/event-stream"))
		return
	}
	x, ok := s.sessionOf(w, r, who, origin, m)
	if !ok {
		return
	}
	switch {
	case m.isResponse():
		accept(w)
		x.answered(m)
	case m.isNotification():
		accept(w)
		x.notified(m)
	default:
		s.request(w, r, x, m)
	}
}

// accept says that a message was taken in, before anything comes of it: what an
// answer leads to ends the call, and with it clients end all that belongs to the
// call, the request with the answer too. One that is ended in the moment of its
// response can take others down that use its connection (net/http's clients).
func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush() // a client that is gone has said its message
}

// sessionOf is the session that a message belongs to: a new one for initialize,
// one of its own in the modern era, else that of its Mcp-Session-Id. If there
// is none, it has been answered.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, who run.Caller, origin string, m message) (*session, bool) {
	params, _ := paramsOf(m)
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	pages := func() (string, error) { return origin, nil }
	switch {
	case mcp.IsModernProtocol(version), mcp.IsModernProtocol(params.Meta.version()):
		return s.newSession("", who, pages), true
	case m.Method == string(mcp.MethodInitialize) && m.isRequest():
		x, err := s.open(who, pages)
		if err != nil {
			w.Header().Set("Retry-After", "60")
			refuse(w, http.StatusServiceUnavailable, &m, faultf(mcp.INTERNAL_ERROR, "%v", err))
			return nil, false
		}
		x.identified = r.Header.Get("Authorization") != "" // which whoever mounts us has checked
		w.Header().Set(sessionHeader, x.id)
		return x, true
	case version != "" && version != mcp.ProtocolVersion20241105 && !slices.Contains(versions, version):
		refuse(w, http.StatusBadRequest, &m, unsupportedVersion(version))
		return nil, false
	}
	return s.known(w, r, who, &m)
}

// known is the session that a request names.
func (s *Server) known(w http.ResponseWriter, r *http.Request, who run.Caller, m *message) (*session, bool) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, m, faultf(mcp.INVALID_REQUEST, "%s is missing: initialize gives one", sessionHeader))
		return nil, false
	}
	x := s.lookup(id, who)
	if x == nil {
		refuse(w, http.StatusNotFound, m, faultf(mcp.INVALID_REQUEST, "there is no such session: begin a new one with initialize"))
		return nil, false
	}
	return x, true
}

// request serves a request.
func (s *Server) request(w http.ResponseWriter, r *http.Request, x *session, m message) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(errEnded) })()
	out := newStream(w, x.primes())
	defer out.close()
	if d := s.streamFor(m); d > 0 && x.primes() {
		defer out.limit(d, func() { cancel(errPoll) })()
	}
	work := s.admit(ctx, &exchange{session: x, out: out}, m, r.Header)
	reply := work.wait()
	if m.Method == string(mcp.MethodInitialize) && reply.code != 0 {
		s.forget(x)
	}
	out.finish(reply, status(x, reply))
}

// streamFor is how long the response to a request may hold its connection; 0
// is as long as it takes.
func (s *Server) streamFor(m message) time.Duration {
	if s.hold == nil || m.Method != string(mcp.MethodToolsCall) {
		return 0
	}
	p, err := paramsOf(m)
	if err != nil {
		return 0
	}
	return s.hold(p.Name)
}

// errPoll: the client is to come back for the rest.
var errPoll = errors.New("the client is to come back")

// status is the HTTP status of a reply that is not streamed. Before 2026-07-28
// an error that belongs to a request is a 200.
func status(x *session, r reply) int {
	if x.id != "" {
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

// accepts tells whether a request's client takes a media type.
func accepts(r *http.Request, kind string) bool {
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

// postBatch serves a batch. Its responses are one JSON array.
func (s *Server) postBatch(w http.ResponseWriter, r *http.Request, who run.Caller, body []byte) {
	x, ok := s.known(w, r, who, nil)
	if !ok {
		return
	}
	parts, refused := split(body, x.current())
	if refused != nil {
		refuse(w, http.StatusBadRequest, nil, refused)
		return
	}
	out := newStream(w, false)
	defer out.close()
	var works []work
	for _, part := range parts {
		m, wrong := parse(part)
		switch {
		case wrong != nil && !m.isNotification():
			works = append(works, replied(fault(m.ID, wrong)))
		case wrong != nil:
		case m.Method == string(mcp.MethodInitialize):
			works = append(works, replied(fault(m.ID, errInitializeAlone)))
		case m.isResponse():
			x.answered(m)
		case m.isNotification():
			x.notified(m)
		default:
			work := s.admit(r.Context(), &exchange{session: x, out: out}, m, r.Header)
			works = append(works, work)
		}
	}
	if works == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out.finish(together(works), http.StatusOK)
}
