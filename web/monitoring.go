package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
)

// handleMetrics serves the metrics. They contain no user data. Of callers that the
// program that embeds Beam identifies, only operators may read them.
func (s *Server) handleMetrics(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if (s.identifier != nil || callers.IsPerson(caller)) && !caller.HasRole(generators.RoleOperator) {
		return callers.ErrForbidden
	}
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
			return problem.Errorf(http.StatusServiceUnavailable, "Runs can't be recorded. See the log for details.")
		}
	}
	writeOK(w, r)
	return nil
}
