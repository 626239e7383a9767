package mcp

// CountPending counts the requests in flight and the questions that wait for a client's
// response, in all sessions.
func (s *Server) CountPending() (inFlight, awaited int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		sess.mu.Lock()
		inFlight, awaited = inFlight+len(sess.inFlightRequests), awaited+len(sess.awaitedResponses)
		sess.mu.Unlock()
	}
	return inFlight, awaited
}
