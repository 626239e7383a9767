package app

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// mostConnections is how many connections are served at once, unless fewer files can be open.
const mostConnections = 8_192

// Descriptors that connections don't get: reservedFiles are for the log, the files of the
// data folder, upstreams and other processes. Each connection may also need one for a file
// that it reads or writes.
const (
	reservedFiles      = 40
	filesPerConnection = 2
	minConnections     = 4
)

// maxConnections returns how many connections are served at once if files can be open; 0 means
// that it isn't known how many can.
func maxConnections(files uint64) int {
	if files == 0 {
		return mostConnections
	}
	possible := (int64(min(files, 1<<32)) - reservedFiles) / filesPerConnection
	return int(max(min(mostConnections, possible), minConnections))
}

// Beyond the limit, connections are accepted only to refuse them, refusersAtOnce at a time:
// the others wait. A client has requestWait to send its request, and closeWait to close the
// connection once it has the response.
const (
	refusersAtOnce = 8
	requestWait    = 250 * time.Millisecond
	closeWait      = 50 * time.Millisecond
)

// refusal is the response to a request on a connection that isn't served.
var refusal = func() string {
	const body = `{"error":{"message":"Too many connections are open. Try again later."}}` + "\n"
	return fmt.Sprintf("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// A limitedListener bounds the connections that are open at once, so that they leave
// descriptors for the log. It refuses further ones with status 503.
type limitedListener struct {
	net.Listener
	slots    chan struct{}
	refusers chan struct{}
	tls      *tls.Config // of refused connections; nil without TLS
	onFull   func()      // is called before a connection is refused
	onRefuse func()
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.takeSlot() {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { <-l.slots })}, nil
		}
		l.onRefuse()
		l.refusers <- struct{}{}
		go func() {
			defer func() { <-l.refusers }()
			l.refuse(conn)
		}()
	}
}

// takeSlot reports whether one more connection may be open. If all slots are taken, it has
// those connections closed that are idle.
func (l *limitedListener) takeSlot() bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	l.onFull()
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// refuse responds to the first request of a connection and closes it.
func (l *limitedListener) refuse(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(requestWait))
	client := conn
	if l.tls != nil {
		client = tls.Server(conn, l.tls)
	}
	request := make([]byte, 4<<10)
	if _, err := client.Read(request); err != nil { // after the handshake
		return
	}
	if _, err := io.WriteString(client, refusal); err != nil {
		return
	}
	if c, ok := client.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	_ = conn.SetDeadline(time.Now().Add(closeWait))
	_, _ = io.CopyN(io.Discard, conn, 64<<10) // what isn't read would reset the connection, and the response with it
}

// A limitedConn is a connection that has a slot until it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
