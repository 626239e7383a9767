package app

import (
	"context"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
)

// The requests of a process that joins the owner of a data folder.
const (
	RequestStdio  = "stdio"  // to serve an MCP client; see [StdioRequest]
	RequestPrune  = "prune"  // to delete finished runs; see [PruneRequest]
	RequestBackup = "backup" // to write a backup
	// RequestUnfinished writes the unfinished runs; see [runs.ReadUnfinishedRuns].
	RequestUnfinished = "unfinished"
	RequestOpen       = "open" // an address that signs a browser in
	RequestHTTP       = "http" // to serve HTTP on the connection, for the operator

	RequestUpstream = "upstream" // to operate upstreams; see [UpstreamRequest]
)

// A controlServer serves the processes that join the app at the control socket in
// its data folder.
type controlServer struct {
	*App
	pages          *PageServer
	cancelSessions context.CancelFunc // ends the handlers' context
}

// sessionCloseTimeout is how long the MCP sessions of other processes may take to
// end, which is how long ServeStdio waits for requests in flight.
const sessionCloseTimeout = 1200 * time.Millisecond

// ServeControlSocket starts to serve other processes at the control socket in the
// app's folder, until the app is closed. It does nothing for a temporary folder,
// which has no socket. command and root describe this process to others.
func (a *App) ServeControlSocket(ctx context.Context, command, root string, pages *PageServer) {
	if a.folder.Socket == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // sessions end when the app drains
	h := &controlServer{App: a, pages: pages, cancelSessions: cancel}
	a.control = h
	owner := func() controlsocket.Owner {
		return controlsocket.Owner{PID: os.Getpid(), Version: Version(), Command: command, Pages: pages.knownBaseURL(), Root: root}
	}
	handlers := map[string]controlsocket.Handler{
		RequestStdio:  h.handleStdio,
		RequestPrune:  h.handlePrune,
		RequestBackup: h.handleBackup,
		RequestOpen:   h.handleOpen,
		RequestHTTP:   h.handleHTTP,

		RequestUpstream:   h.handleUpstream,
		RequestUnfinished: h.handleUnfinished,
	}
	go a.folder.Socket.Serve(ctx, owner, handlers, a.logger)
}

// stopAccepting accepts no more processes. Like the other methods that end a
// control server, it does nothing if h is nil.
func (h *controlServer) stopAccepting() {
	if h != nil {
		h.logCloseError(h.folder.Socket.StopAccepting())
	}
}

// endSessions accepts no more processes and ends the sessions of those that
// joined.
func (h *controlServer) endSessions() {
	if h != nil {
		h.stopAccepting()
		h.cancelSessions()
	}
}

// close ends the sessions, and closes connections that are still open after the
// timeout.
func (h *controlServer) close(timeout time.Duration) {
	if h != nil {
		h.cancelSessions()
		h.logCloseError(h.folder.Socket.Close(timeout))
	}
}

func (h *controlServer) logCloseError(err error) {
	if err != nil {
		h.logger.Warn("closing the socket in the data folder", "err", err)
	}
}
