package mcp

// Remembered counts what the sessions remember: requests of the clients that are
// under way, and questions that wait for a client's answer.
func (s *Server) Remembered() (under, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.mu.Lock()
		under, asked = under+len(x.under), asked+len(x.asked)
		x.mu.Unlock()
	}
	return under, asked
}
