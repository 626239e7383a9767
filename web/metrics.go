package web

import "net/http"

// handleMetrics serves the metrics. They contain no user data and need no session, but
// they need the token if the server has one.
func (s *Server) handleMetrics(w http.ResponseWriter, r *http.Request) error {
	if _, presented := bearerToken(r); presented || s.sessions.token != "" {
		if _, err := s.sessions.identify(w, r); err != nil {
			return err
		}
	}
	s.metricsHandler.ServeHTTP(w, r)
	return nil
}
