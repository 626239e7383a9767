package mcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// get opens a stream: the one that tells what no request asked for, or one that
// resumes a call's that broke off.
func (s *Server) get(w http.ResponseWriter, r *http.Request, who run.Caller) {
	if !accepts(r, "text/event-stream") || r.Header.Get("Accept") == "" {
		refuse(w, http.StatusNotAcceptable, nil, faultf(mcp.INVALID_REQUEST, "Accept must list text/event-stream"))
		return
	}
	if refusedModern(w, r) {
		return
	}
	x, ok := s.known(w, r, who, nil)
	if !ok {
		return
	}
	if cursor := r.Header.Get("Last-Event-ID"); cursor != "" {
		s.resume(w, r, x, cursor)
		return
	}
	ctx, end := x.standAlone(r.Context())
	defer end()
	defer context.AfterFunc(s.closed, end)()
	out := newStream(w, false)
	defer out.close()
	if out.open() != nil {
		return
	}
	for {
		said := x.changes.next(ctx, nil)
		if said == nil {
			return
		}
		for _, n := range said {
			if out.send("", n) != nil {
				return
			}
		}
	}
}

// resume goes on with a call on another stream.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, x *session, cursor string) {
	id, seq, ok := splitCursor(cursor)
	c := x.call(id)
	if !ok || c == nil || !c.reached(seq) {
		refuse(w, http.StatusBadRequest, nil, faultf(mcp.INVALID_REQUEST, "Last-Event-ID is of no stream of this session"))
		return
	}
	out := newStream(w, false)
	defer out.close()
	if out.open() != nil {
		return
	}
	flight, refused := x.takeOff(r.Context(), c.id)
	if refused != nil { // the stream that broke was not noticed to be broken yet
		flight = x.takeOver(r.Context(), c.id)
	}
	defer x.land(flight)
	out.finish(c.resume(out, flight, seq), http.StatusOK)
}

// delete ends a session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, who run.Caller) {
	if refusedModern(w, r) {
		return
	}
	x, ok := s.known(w, r, who, nil)
	if !ok {
		return
	}
	s.forget(x)
	w.WriteHeader(http.StatusNoContent)
}

// refusedModern refuses what the modern era does not have.
func refusedModern(w http.ResponseWriter, r *http.Request) bool {
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		return false
	}
	w.Header().Set("Allow", "POST")
	refuse(w, http.StatusMethodNotAllowed, nil, faultf(mcp.INVALID_REQUEST, "protocol version %s has POST only; subscriptions/listen tells what changes", july2026))
	return true
}
