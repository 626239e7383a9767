package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// errClosed is the error of an app that is closed.
var errClosed = errors.New("this Beam is closed")

const (
	// DefaultDrain is how long active runs may continue after Serve's context has ended.
	DefaultDrain = 5 * time.Second
	// requestDrainTimeout is how long requests and MCP sessions may take to end after
	// that.
	requestDrainTimeout = 2 * time.Second

	// stopTimeout is how long runs may take to stop in Stop.
	stopTimeout = 500 * time.Millisecond
	// deferTimeout is how long the deferred functions of stopped runs may take
	// after that.
	deferTimeout = 300 * time.Millisecond
)

// Handler returns the handler of the pages, the MCP endpoint and the HTTP interface. It
// responds with status 503 once the app is closed.
func (a *App) Handler() http.Handler {
	var handler http.Handler = a.web
	if a.tracer != nil {
		handler = a.tracer.Handler(handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.work.begin() {
			http.Error(w, errClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		defer a.work.end()
		handler.ServeHTTP(w, r)
	})
}

// newHTTPServer returns a server of the pages with limits that protect it from slow
// and greedy clients.
func (a *App) newHTTPServer() *http.Server {
	server := a.web.NewHTTPServer()
	server.Handler = a.Handler()
	return server
}

// ServeOptions say how [App.Serve] serves.
type ServeOptions struct {
	Certificate *Certificate  // nil serves without TLS
	Drain       time.Duration // how long active runs may continue
}

// Serve serves the pages on l until ctx ends. Then it drains and closes the app, as
// [App.Close] does.
func (a *App) Serve(ctx context.Context, l net.Listener, o ServeOptions) error {
	server := a.newHTTPServer()
	l = a.limitConnections(l, server, o)
	a.notices.start() // its links lead to these pages
	failed := make(chan error, 1)
	go func() {
		if o.Certificate == nil {
			failed <- server.Serve(l)
			return
		}
		server.TLSConfig = o.Certificate.Config()
		failed <- server.ServeTLS(l, "", "")
	}()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.logger.Info("draining")
	}
	drain, cancel := context.WithTimeout(context.Background(), o.Drain)
	defer cancel()
	closeErr := a.Close(drain)
	if errors.Is(closeErr, context.DeadlineExceeded) {
		closeErr = nil // it was logged
	}
	connections, cancel := context.WithTimeout(context.Background(), requestDrainTimeout)
	defer cancel()
	if server.Shutdown(connections) != nil {
		server.Close()
	}
	return errors.Join(err, closeErr)
}

// limitConnections returns a listener that accepts as many connections as can be served.
func (a *App) limitConnections(l net.Listener, server *http.Server, o ServeOptions) net.Listener {
	n := maxConnections(maxOpenFiles())
	if n < mostConnections {
		a.logger.Warn("fewer connections are served, because few files can be open", "connections", n, "files", maxOpenFiles())
	}
	limited := &limitedListener{
		Listener: l, slots: make(chan struct{}, n), refusers: make(chan struct{}, refusersAtOnce), onRefuse: a.metrics.ConnectionRefused,
		onFull: func() { // closes the connections that are idle
			server.SetKeepAlivesEnabled(false)
			server.SetKeepAlivesEnabled(true)
		},
	}
	if o.Certificate != nil {
		limited.tls = o.Certificate.Config()
		limited.tls.NextProtos = []string{"http/1.1"}
	}
	a.metrics.SetConnections(n, func() int { return len(limited.slots) })
	return limited
}

// Close closes the app. It starts no new runs, waits for active ones until ctx is done,
// ends the streams of followers and the sessions of MCP clients, waits for requests in
// progress, and closes the log. The error is that of ctx if runs or requests had to be
// ended, or the log's. It must be called only once, and not together with [App.Stop].
func (a *App) Close(ctx context.Context) error {
	a.control.stopAccepting()
	err := a.engine.Close(ctx)
	if err != nil {
		a.logger.Warn("closing the engine", "err", err)
	}
	err = ctx.Err()
	a.closeSurfaces()
	a.cancelSessions()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestDrainTimeout)
	defer cancel()
	a.control.close(sessionCloseTimeout)
	if left := a.work.close(grace); left != nil {
		a.logger.Warn("requests are still in progress")
		err = errors.Join(err, left)
	}
	return errors.Join(err, a.closeFiles())
}

// closeSurfaces ends the streams of followers and the sessions of MCP clients, if there are
// surfaces.
func (a *App) closeSurfaces() {
	a.notices.close()
	a.models.Close()
	if a.web != nil {
		a.upstreams.Close()
		a.web.Close()
		a.mcp.Close()
	}
}

// Stop closes an app that serves only its own process, in less than a second: a run that
// does not stop in time ends with the process.
func (a *App) Stop() {
	a.control.endSessions()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := a.engine.Close(ctx); err != nil {
			a.logger.Warn("closing the engine", "err", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout + deferTimeout):
	}
	a.closeSurfaces()
	a.control.close(0)
	if err := a.closeFiles(); err != nil {
		a.logger.Error("closing the log", "err", err)
	}
}
