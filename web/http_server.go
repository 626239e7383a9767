package web

import (
	"log/slog"
	"net/http"
	"time"
)

// How long a client may take. What is read of a body is bounded where it is
// read; a stream bounds each of its writes itself.
const (
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute  // between two requests of a connection
	responseTimeout = 10 * time.Minute // to take a whole response, such as a large file
	maxHeader       = 64 << 10         // bytes
)

// NewHTTPServer returns an HTTP server for the playground, with the bounds that keep
// slow and broken clients from taking up room for ever. Its caller listens.
func (s *Server) NewHTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}
