// Package web serves the playground: pages that show runs and ask questions, and the
// HTTP interface for scripts. It renders the log and keeps no state of its own but
// browser sessions. Packages below it serve one subject each; here are the routes.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/static"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/stream"
)

// A Server serves the playground. It is safe for concurrent use.
type Server struct {
	handler  http.Handler
	site     *site.Site
	streams  *stream.Handlers
	attempts *access.Attempts
	logger   *slog.Logger

	stopWatching func() // sign-outs in other processes
}

// New returns a server.
func New(c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Streams == nil {
		c.Streams = budget.New(budget.Streams, budget.DefaultStreams)
	}
	isShared := c.State != nil
	if !isShared {
		c.State = smallstate.NewMemory()
	}
	p := newParts(&c)
	s := &Server{site: p.site, streams: p.streams, attempts: p.adapter.callers.Attempts, logger: c.Logger}
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(gzhttp.DefaultContentTypeFilter), gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	routes := p.routes(func(h http.Handler) http.Handler { return compress(h) })
	if err := s.site.CheckRoutes(routes); err != nil {
		return nil, err
	}
	s.handler = s.site.Guard(s.site.RedirectToCleanPaths(routes), p.adapter.reject)
	watching, cancel := context.WithCancel(context.Background())
	s.stopWatching = cancel
	if isShared {
		go p.login.SignOuts.Watch(watching)
	}
	return s, nil
}

// Limits on slow clients. Handlers limit how long they read a body; streams limit each
// of their writes.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute // between two requests on a connection
	maxHeader     = 64 << 10        // bytes
)

// NewHTTPServer returns an HTTP server for s with limits that protect it from slow and
// broken clients. The caller listens.
func (s *Server) NewHTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

// HasScript reports whether the Datastar bundle is present, which is not part of the
// source tree. Pages work without it, but don't update themselves.
func (s *Server) HasScript() bool { return static.HasDatastar() }

// SignInURL returns a new single-use URL. The first browser that opens it is signed in as
// the operator. Base is the URL of the first page without its trailing slash. With
// [Config.Identify] there is no sign-in page, and the URL leads nowhere.
func (s *Server) SignInURL(base string) string {
	return links.Base(base).SignIn(s.issueCode(), "")
}

// SignInToInboxURL is [Server.SignInURL] for a browser that then opens the inbox.
func (s *Server) SignInToInboxURL(base string) string {
	return links.Base(base).SignIn(s.issueCode(), s.site.Path.Inbox())
}

// issueCode returns a sign-in code, which is of no use while the store can't be written.
func (s *Server) issueCode() string {
	code, err := s.attempts.Codes.Issue(context.Background())
	if err != nil {
		s.logger.Error("making a sign-in address; it won't work", "err", err)
	}
	return code
}

// SignInCounts returns how many credentials were wrong, and how many were refused unseen.
func (s *Server) SignInCounts() (wrong, refused int64) {
	c := s.attempts.Throttle.Counts()
	return c.Wrong, c.Refused
}

// Close ends all streams, so that the HTTP server can shut down.
func (s *Server) Close() {
	s.stopWatching()
	s.streams.Close()
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.site.StripPath(r)
	ctx := engine.WithMaxWait(links.WithBase(r.Context(), s.site.Path), engine.TurnWait)
	s.handler.ServeHTTP(w, r.WithContext(ctx))
}
