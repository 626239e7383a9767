package web

import "net/http"

// handleMetrics serves the metrics. They hold nothing of anybody's, and need no
// session; where a token is needed, they need it, too.
func (s *Server) handleMetrics(w http.ResponseWriter, r *http.Request) error {
	if _, presented := bearerToken(r); presented || s.sessions.token != "" {
		if _, err := s.sessions.identify(w, r); err != nil {
			return err
		}
	}
	s.metricsHandler.ServeHTTP(w, r)
	return nil
}
