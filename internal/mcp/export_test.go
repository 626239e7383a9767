package mcp

// CountPending counts the requests in flight and the questions that wait for a client's
// response, in all sessions.
func (s *Server) CountPending() (inFlight, awaited int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		f, a := sess.requests.Count()
		inFlight, awaited = inFlight+f, awaited+a
	}
	return inFlight, awaited
}
