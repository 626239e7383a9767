package mcp

import (
	"cmp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// maxClientName is the longest name of a client that is listed, in bytes.
const maxClientName = 80

// EachClient calls add with each client of the caller's that has a session: its name, how it
// is connected, and how many of this server's requests it has yet to respond to, in no order. Clients of
// 2026-07-28 over HTTP have no sessions.
func (s *Server) EachClient(caller generators.Caller, add func(name, transport string, awaited int)) {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions)+len(s.stdioSessions))
	for _, sess := range s.sessions {
		all = append(all, sess)
	}
	for sess := range s.stdioSessions {
		all = append(all, sess)
	}
	s.mu.Unlock()
	for _, sess := range all {
		if sess.currentCaller().ID != caller.ID && !caller.HasRole(generators.RoleOperator) {
			continue
		}
		transport := "over HTTP"
		if sess.steps != nil {
			transport = "over stdio"
		}
		_, awaited := sess.requests.Count()
		name := "A client without a name"
		if c := sess.initializedClient(); c != nil {
			name = cmp.Or(humanize.TruncateBytes(cleantext.Line(c.name), maxClientName, "…"), name)
		}
		add(name, transport, awaited)
	}
}
