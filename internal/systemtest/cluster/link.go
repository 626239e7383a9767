package cluster

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A Link is the network between a replica and a server of the database: it passes TCP
// connections to a target, and fails when told to. Its methods may be called by several
// goroutines.
type Link struct {
	target, addr string

	mu       sync.Mutex
	listener net.Listener // nil while cut
	conns    map[*linkedConn]bool
	delay    time.Duration
	changed  chan struct{} // closed and replaced when delay changes
	fault    fault         // what befalls the next message that it fits
}

// A fault is how a connection is reset.
type fault int

const (
	noFault fault = iota
	resetInside
	resetAfterCommit
)

// NewLink returns a link to a target, such as "127.0.0.1:5432". It passes connections until
// Close.
func NewLink(target string) (*Link, error) {
	addr, err := programtest.FindFreeAddress()
	if err != nil {
		return nil, err
	}
	l := &Link{target: target, addr: addr, conns: make(map[*linkedConn]bool), changed: make(chan struct{})}
	return l, l.Restore()
}

// Addr returns the address at which clients connect. It never changes.
func (l *Link) Addr() string { return l.addr }

// Cut resets all connections, and refuses new ones until Restore.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		l.listener.Close()
		l.listener = nil
	}
	for c := range l.conns {
		c.reset()
	}
}

// Restore passes connections again, after Cut.
func (l *Link) Restore() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", l.addr)
	if err == nil {
		l.listener = listener
		go l.accept(listener)
	}
	return err
}

// Delay passes everything on after d, in both directions: what is under way, too. With an
// hour, the link is a cable that was pulled, until Delay(0).
func (l *Link) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
	close(l.changed)
	l.changed = make(chan struct{})
}

// ResetNext resets the connection on which a client sends something next, when the target has
// half of it. A commit that is cut like that doesn't happen.
func (l *Link) ResetNext() { l.setFault(resetInside) }

// ResetCommit resets the connection on which a client commits next, when the target has the
// commit, and before the client has a reply. It can't know whether it has committed.
func (l *Link) ResetCommit() { l.setFault(resetAfterCommit) }

// IsArmed reports whether ResetNext or ResetCommit has yet to befall a connection.
func (l *Link) IsArmed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault != noFault
}

// Close cuts the link for good.
func (l *Link) Close() { l.Cut() }

func (l *Link) setFault(f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// takeFault returns the fault that befalls a message of a client, once.
func (l *Link) takeFault(message []byte) fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.fault
	if f == noFault || f == resetAfterCommit && !bytes.Contains(bytes.ToLower(message), []byte("commit")) {
		return noFault
	}
	l.fault = noFault
	return f
}

// accept passes connections until the listener is closed.
func (l *Link) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go l.pass(listener, client)
	}
}

// pass connects a client with the target, until either ends.
func (l *Link) pass(from net.Listener, client net.Conn) {
	target, err := net.Dial("tcp", l.target)
	if err != nil {
		resetConn(client)
		return
	}
	c := &linkedConn{client: client, target: target, over: make(chan struct{})}
	l.mu.Lock()
	wasCut := l.listener != from
	if !wasCut {
		l.conns[c] = true
	}
	l.mu.Unlock()
	if wasCut {
		c.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.copy(c, target, client, l.takeFault) })
	both.Go(func() { l.copy(c, client, target, func([]byte) fault { return noFault }) })
	both.Wait()
	c.end(func(conn net.Conn) { conn.Close() })
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// A piece is what was read from a connection, and when.
type piece struct {
	data []byte
	at   time.Time
}

// copy passes on what comes from a connection, until it ends.
func (l *Link) copy(c *linkedConn, to, from net.Conn, faultOf func([]byte) fault) {
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				select {
				case pieces <- piece{data[:n], time.Now()}:
				case <-c.over:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		if !l.wait(c, p.at) {
			return
		}
		if err := c.send(to, p.data, faultOf(p.data)); err != nil {
			break
		}
	}
	c.end(func(conn net.Conn) { conn.Close() })
}

// wait waits until what came at a time may be passed on. It reports false if the connection
// ends before.
func (l *Link) wait(c *linkedConn, at time.Time) bool {
	for {
		l.mu.Lock()
		due, changed := at.Add(l.delay), l.changed
		l.mu.Unlock()
		late := time.Until(due)
		if late <= 0 {
			return true
		}
		timer := time.NewTimer(late)
		select {
		case <-timer.C:
		case <-changed:
		case <-c.over:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// A linkedConn is a connection of a client and the one to the target.
type linkedConn struct {
	client, target net.Conn
	unheard        atomic.Bool // the next reply resets the connection
	once           sync.Once
	over           chan struct{} // closed when both have ended
}

var errReset = errors.New("the connection was reset")

// send passes a piece on, or resets the connection.
func (c *linkedConn) send(to net.Conn, data []byte, f fault) error {
	switch {
	case f == resetInside:
		_, err := to.Write(data[:len(data)/2])
		c.reset()
		return errors.Join(errReset, err)
	case f == resetAfterCommit:
		c.unheard.Store(true)
	case to == c.client && c.unheard.Load():
		c.reset()
		return errReset
	}
	_, err := to.Write(data)
	return err
}

// reset ends both connections without a farewell, as a router does that forgets them.
func (c *linkedConn) reset() { c.end(resetConn) }

func (c *linkedConn) end(how func(net.Conn)) {
	c.once.Do(func() {
		close(c.over)
		how(c.client)
		how(c.target)
	})
}

// resetConn closes a connection with a reset.
func resetConn(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	c.Close()
}
