package mcp

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/streamable"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
)

// Alone returns the server of a single upstream: of its tools, resources, prompts and
// completions, under the upstream's own names, and nothing else. Its calls are never
// handed off, since that takes tools of Beam's own. It reports false if there is no such
// upstream, or the caller may not use it.
func (s *Server) Alone(name string, caller generators.Caller) (*Server, bool) {
	if s.upstreams == nil || !s.upstreams.Allows(name, caller) {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.alone[name]; a != nil || s.alone == nil { // nil if the server is closed
		return a, a != nil
	}
	c := s.config
	c.Configure, c.AskPolicy.Handoff, c.Instructions = nil, 0, s.upstreams.Instructions(name)
	a, err := newServer(c, name)
	if err != nil {
		s.logger.Error("serving an upstream alone", "upstream", name, "err", err)
		return nil, false
	}
	s.alone[name] = a
	return a, true
}

// ServeUpstreamHTTP is [Server.ServeHTTP] for the endpoint of a single upstream.
func (s *Server) ServeUpstreamHTTP(w http.ResponseWriter, r *http.Request, name string, caller generators.Caller, origin string) {
	a, ok := s.Alone(name, caller)
	if !ok {
		streamable.WriteError(w, http.StatusNotFound, nil, msg.Errorf(mcp.INVALID_REQUEST, "there is no such upstream"))
		return
	}
	a.ServeHTTP(w, r, caller, origin)
}

// mapUI returns the function that maps the ui:// addresses of what a photon returns; nil
// if its clients use the upstream's own.
func (s *Server) mapUI(p *generators.Photon) func(string) string {
	server, ok := msg.ServerOf(p)
	if !ok || s.only != "" {
		return nil
	}
	return func(uri string) string { return catalogue.JoinUI(server, uri) }
}
