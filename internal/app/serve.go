package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	// runDrainTimeout is how long active runs may continue after Serve's context has
	// ended.
	runDrainTimeout = 5 * time.Second
	// connectionDrainTimeout is how long connections may take to finish after that.
	connectionDrainTimeout = 2 * time.Second

	// stopTimeout is how long runs may take to stop in Shutdown.
	stopTimeout = 500 * time.Millisecond
	// deferTimeout is how long the deferred functions of stopped runs may take
	// after that.
	deferTimeout = 300 * time.Millisecond
)

// newHTTPServer returns a server of the pages with limits that protect it from slow
// and greedy clients.
func (a *App) newHTTPServer() *http.Server {
	server := a.web.NewHTTPServer()
	if a.tracer != nil {
		server.Handler = a.tracer.Handler(server.Handler)
	}
	return server
}

// Serve serves the pages on l until ctx ends. Then it drains: it starts no new
// runs, waits a few seconds for active ones, ends the streams of followers, closes
// connections and closes the log.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	server := a.newHTTPServer()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.logger.Info("draining")
	}
	a.control.stopAccepting()
	a.closeEngine(runDrainTimeout)
	a.web.Close()
	a.mcp.Close()
	a.control.close(sessionCloseTimeout)
	connections, cancel := context.WithTimeout(context.Background(), connectionDrainTimeout)
	defer cancel()
	if server.Shutdown(connections) != nil {
		server.Close()
	}
	return errors.Join(err, a.closeLog())
}

// Shutdown ends an app that [App.Serve] does not serve, in less than a second: a
// run that does not stop in time ends with the process.
func (a *App) Shutdown() {
	a.control.endSessions()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.closeEngine(stopTimeout)
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout + deferTimeout):
	}
	a.web.Close()
	a.mcp.Close()
	a.control.close(0)
	if err := a.closeLog(); err != nil {
		a.logger.Error("closing the log", "err", err)
	}
}

func (a *App) closeEngine(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := a.engine.Close(ctx); err != nil {
		a.logger.Warn("closing the engine", "err", err)
	}
}
