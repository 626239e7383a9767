package web

import "net/http"

// metrics serves the metrics. They hold nothing of anybody's, and need no
// session; where a token is needed, they need it, too.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if _, presented := bearerToken(r); presented || s.sessions.token != "" {
		if _, err := s.sessions.caller(w, r); err != nil {
			return err
		}
	}
	s.metricsHandler.ServeHTTP(w, r)
	return nil
}
