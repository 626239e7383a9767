package mcp

// CountPending counts what the sessions remember: requests of the clients that are
// under way, and questions that wait for a client's answer.
func (s *Server) CountPending() (under, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		sess.mu.Lock()
		under, asked = under+len(sess.inFlightRequests), asked+len(sess.awaitedResponses)
		sess.mu.Unlock()
	}
	return under, asked
}
