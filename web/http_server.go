package web

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits on slow clients. Handlers limit how long they read a body; streams limit each
// of their writes.
const (
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute  // between two requests on a connection
	responseTimeout = 10 * time.Minute // to read a whole response, such as a large file
	maxHeader       = 64 << 10         // bytes
)

// NewHTTPServer returns an HTTP server for s with limits that protect it from slow and
// broken clients. The caller listens.
func (s *Server) NewHTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}
