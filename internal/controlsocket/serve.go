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

// A Handler does what a joiner wants. It accepts or refuses the request, and
// may use its connection until it returns.
type Handler func(ctx context.Context, r *Request)

// A Server is an owner's end. It listens from the beginning: who comes before
// [Server.Serve] waits.
type Server struct {
	dir      string
	listener *net.UnixListener

	mu       sync.Mutex
	closing  bool
	conns    map[*net.UnixConn]struct{}
	handlers sync.WaitGroup
}

// maxConns bounds the connections at once. They are all of one user.
const maxConns = 1000

// handshakeTimeout is how long a joiner may take to say what it wants.
const handshakeTimeout = 5 * time.Second

// Listen listens in a folder whose lock the caller holds, in place of an owner
// that was killed.
func Listen(dir string) (*Server, error) {
	l, err := listenUnix(dir)
	if err != nil {
		return nil, fmt.Errorf("the socket in the data folder can't be made: %w", err)
	}
	return &Server{dir: dir, listener: l, conns: make(map[*net.UnixConn]struct{})}, nil
}

// Serve serves who comes, each in a goroutine, until the server is closed; then
// ctx's end tells the handlers. owner is asked anew for each.
func (s *Server) Serve(ctx context.Context, owner func() Owner, handlers map[string]Handler, logger *slog.Logger) {
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil && s.isClosing() {
			return
		}
		if err != nil { // no file descriptors are left, for one
			logger.Warn("taking a connection in the data folder", "err", err)
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

// StopAccepting takes no more connections. Those that are there go on.
func (s *Server) StopAccepting() error {
	s.mu.Lock()
	was := s.closing
	s.closing = true
	s.mu.Unlock()
	if was {
		return nil
	}
	return errors.Join(s.listener.Close(), removeStaleSocket(s.dir))
}

// Close ends the server. Handlers whose context has ended have a moment to
// return before their connections are closed.
func (s *Server) Close(moment time.Duration) error {
	err := s.StopAccepting()
	done := make(chan struct{})
	go func() { s.handlers.Wait(); close(done) }()
	select {
	case <-done:
		return err
	case <-time.After(moment):
	}
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	return err
}

// A Request is what a joiner wants, and its connection. Reads and writes are
// for after [Request.Accept].
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
	case h.Version != ProtocolVersion:
		r.Refuse(Refusef(VersionMismatch, "it speaks version %d of the protocol between Beams, and this one version %d", ProtocolVersion, h.Version))
	case h.Operation == opIdentify:
		_ = r.Accept() // the client may be gone
	case handler == nil:
		r.Refuse(Refusef(UnknownOperation, "it knows nothing of %.40q", h.Operation))
	case c.SetReadDeadline(time.Time{}) == nil:
		r.Args = h.Args
		handler(ctx, r)
	}
}

// Accept says yes. The connection is the handler's.
func (r *Request) Accept() error {
	return r.respond(welcome{Version: ProtocolVersion, Owner: r.owner})
}

// Refuse says no. The connection ends.
func (r *Request) Refuse(e *RefusedError) {
	_ = r.respond(welcome{Version: ProtocolVersion, Owner: r.owner, Refused: e}) // a joiner that is gone need not know
}

func (r *Request) respond(w welcome) error {
	if r.responded {
		return errors.New("joint: a request is answered once")
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

// SetWriteDeadline bounds how long writes may wait for the joiner.
func (r *Request) SetWriteDeadline(t time.Time) error { return r.conn.SetWriteDeadline(t) }
