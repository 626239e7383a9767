package controlsocket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// A Handler handles a client's request. It accepts or refuses the request, and may
// use the connection until it returns.
type Handler func(ctx context.Context, r *Request)

// A Server listens for clients in a folder. Clients that connect before
// [Server.Serve] is called wait.
type Server struct {
	dir      string
	listener *net.UnixListener

	mu       sync.Mutex
	closing  bool
	conns    map[*net.UnixConn]struct{}
	handlers sync.WaitGroup
}

// maxConns is the maximum number of connections. They all belong to one user.
const maxConns = 1000

// handshakeTimeout is how long a client may take to send its first line.
const handshakeTimeout = 5 * time.Second

// Listen listens in a folder, whose lock the caller must hold. It replaces the
// socket of an owner that was killed.
func Listen(dir string) (*Server, error) {
	l, err := listenUnix(dir)
	if err != nil {
		return nil, fmt.Errorf("creating the socket in the data folder: %w", err)
	}
	return &Server{dir: dir, listener: l, conns: make(map[*net.UnixConn]struct{})}, nil
}

// Serve handles each connection in a goroutine until the server is closed. The
// handlers receive ctx, which should be canceled before [Server.Close]. Serve calls
// owner for each connection.
func (s *Server) Serve(ctx context.Context, owner func() Owner, handlers map[string]Handler, logger *slog.Logger) {
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil && s.isClosing() {
			return
		}
		if err != nil { // such as running out of file descriptors
			logger.Warn("accepting a connection to the control socket", "err", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if !s.trackConn(c) {
			c.Close()
			continue
		}
		go func() {
			defer s.untrackConn(c)
			serveConn(ctx, c, owner(), handlers)
		}()
	}
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

func (s *Server) trackConn(c *net.UnixConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || len(s.conns) >= maxConns {
		return false
	}
	s.conns[c] = struct{}{}
	s.handlers.Add(1)
	return true
}

func (s *Server) untrackConn(c *net.UnixConn) {
	c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.handlers.Done()
}

// StopAccepting closes the listener. Existing connections continue.
func (s *Server) StopAccepting() error {
	s.mu.Lock()
	closed := s.closing
	s.closing = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	return errors.Join(s.listener.Close(), removeStaleSocket(s.dir))
}

// Close closes the server. Handlers have gracePeriod to return before Close closes
// their connections.
func (s *Server) Close(gracePeriod time.Duration) error {
	err := s.StopAccepting()
	done := make(chan struct{})
	go func() { s.handlers.Wait(); close(done) }()
	select {
	case <-done:
		return err
	case <-time.After(gracePeriod):
	}
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	return err
}

// A Request is a client's request and its connection. Read and Write may be called
// after [Request.Accept].
type Request struct {
	Args []byte // JSON

	conn      *net.UnixConn
	reader    *bufio.Reader
	owner     Owner
	responded bool
}

func serveConn(ctx context.Context, c *net.UnixConn, owner Owner, handlers map[string]Handler) {
	r := &Request{conn: c, reader: bufio.NewReaderSize(c, 64<<10), owner: owner}
	if c.SetReadDeadline(time.Now().Add(handshakeTimeout)) != nil {
		return
	}
	var h hello
	err := readLine(r.reader, &h)
	handler := handlers[h.Operation]
	switch {
	case errors.Is(err, errBadLine):
		r.Refuse(Refusef(Failed, "%v", err))
	case err != nil:
	case h.Version != protocolVersion:
		r.Refuse(Refusef(VersionMismatch, "it speaks version %d of the control protocol, and this Beam speaks version %d", protocolVersion, h.Version))
	case h.Operation == opIdentify:
		_ = r.Accept() // the client may be gone
	case handler == nil:
		r.Refuse(Refusef(UnknownOperation, "it doesn't know the operation %.40q", h.Operation))
	case c.SetReadDeadline(time.Time{}) == nil:
		r.Args = h.Args
		handler(ctx, r)
	}
}

// Accept accepts the request.
func (r *Request) Accept() error {
	return r.respond(welcome{Version: protocolVersion, Owner: r.owner})
}

// Refuse refuses the request. The connection is closed when the handler returns.
func (r *Request) Refuse(e *RefusedError) {
	_ = r.respond(welcome{Version: protocolVersion, Owner: r.owner, Refused: e}) // the client may be gone
}

func (r *Request) respond(w welcome) error {
	if r.responded {
		return errors.New("the control request was accepted or refused before")
	}
	r.responded = true
	if err := r.conn.SetWriteDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	if err := writeLine(r.conn, w); err != nil {
		return err
	}
	return r.conn.SetWriteDeadline(time.Time{})
}

// Read implements [io.Reader].
func (r *Request) Read(p []byte) (int, error) { return r.reader.Read(p) }

// Write implements [io.Writer].
func (r *Request) Write(p []byte) (int, error) { return r.conn.Write(p) }

// SetWriteDeadline sets the deadline of writes, which wait for the client to read.
func (r *Request) SetWriteDeadline(t time.Time) error { return r.conn.SetWriteDeadline(t) }

// SetReadDeadline sets the deadline of reads.
func (r *Request) SetReadDeadline(t time.Time) error { return r.conn.SetReadDeadline(t) }
