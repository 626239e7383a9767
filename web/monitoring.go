package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// handleMetrics serves the metrics. They contain no user data.
func (s *Server) handleMetrics(w http.ResponseWriter, r *http.Request, _ engine.Caller) error {
	s.metricsHandler.ServeHTTP(w, r)
	return nil
}

func writeOK(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// handleReady fails once the engine accepts no more runs, and while runs can't be
// recorded.
func (s *Server) handleReady(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-s.engine.Closing():
		return engine.ErrClosing
	default:
	}
	if s.checkReady != nil {
		if err := s.checkReady(); errors.Is(err, runlog.ErrDiskFull) {
			return err
		} else if err != nil {
			s.logger.Error("not ready", "err", err)
			return statusErrorf(http.StatusServiceUnavailable, "Runs can't be recorded. See the log for details.")
		}
	}
	writeOK(w, r)
	return nil
}
