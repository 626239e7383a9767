package web

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/problem"
)

// monitoring serves those who watch the server.
type monitoring struct {
	engine     *engine.Engine
	callers    *access.Callers
	metrics    http.Handler // nil if there are none
	checkReady func() error // nil if it is always ready until it closes
	logger     *slog.Logger
}

// serveMetrics serves the metrics. They contain no user data. Of callers that the
// program that embeds Beam identifies, only operators may read them.
func (m *monitoring) serveMetrics(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if (m.callers.OwnSignIn || callers.IsPerson(caller)) && !caller.HasRole(generators.RoleOperator) {
		return callers.ErrForbidden
	}
	m.metrics.ServeHTTP(w, r)
	return nil
}

func writeOK(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// serveReady fails once the engine accepts no more runs, and while runs can't be
// recorded.
func (m *monitoring) serveReady(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-m.engine.Closing():
		return engine.ErrClosing
	default:
	}
	if m.checkReady != nil {
		if err := m.checkReady(); errors.Is(err, runlog.ErrDiskFull) {
			return err
		} else if err != nil {
			m.logger.Error("not ready", "err", err)
			return problem.Errorf(http.StatusServiceUnavailable, "Runs can't be recorded. See the log for details.")
		}
	}
	writeOK(w, r)
	return nil
}
