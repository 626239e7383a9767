package app

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/controlsocket"
)

// handleHTTP serves the HTTP interface to a process of the same user, who is the operator.
func (h *controlServer) handleHTTP(ctx context.Context, r *controlsocket.Request) {
	if r.Accept() != nil {
		return
	}
	conn := &requestConn{Request: r, closed: make(chan struct{})}
	server := h.web.NewHTTPServer()
	server.Handler = h.Handler()
	server.BaseContext = func(net.Listener) context.Context { return callers.WithCaller(ctx, callers.Operator()) }
	defer context.AfterFunc(ctx, func() { server.Close() })()
	l := &oneConnListener{conn: conn}
	_ = server.Serve(l) // its error is the listener's: the one connection is accepted
	select {
	case <-conn.closed:
	case <-ctx.Done():
	}
}

// A requestConn is a connection to the control socket as a [net.Conn]. Reads have no
// deadline.
type requestConn struct {
	*controlsocket.Request
	closed    chan struct{}
	closeOnce sync.Once
}

var _ net.Conn = (*requestConn)(nil)

// pipeAddr is the address of both ends, as that of a [net.Pipe], which no other machine
// can reach.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (c *requestConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (c *requestConn) RemoteAddr() net.Addr { return pipeAddr{} }

func (c *requestConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// Close ends the request: its handler returns.
func (c *requestConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.SetDeadline(time.Unix(1, 0))
}

// A oneConnListener accepts one connection.
type oneConnListener struct {
	mu   sync.Mutex
	conn net.Conn
}

var _ net.Listener = (*oneConnListener)(nil)

func (l *oneConnListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil, http.ErrServerClosed
	}
	c := l.conn
	l.conn = nil
	return c, nil
}

func (l *oneConnListener) Close() error   { return nil }
func (l *oneConnListener) Addr() net.Addr { return pipeAddr{} }
