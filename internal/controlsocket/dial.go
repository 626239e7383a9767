package controlsocket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// opIdentify is the operation that only returns the owner.
const opIdentify = "who"

// A Conn is a client's connection whose request was accepted.
type Conn struct {
	Owner Owner

	conn   *net.UnixConn
	reader *bufio.Reader
}

// Dial requests an operation from the owner of a folder. An owner that is starting
// responds once it has started, so ctx should have a deadline. The error is
// [ErrNoListener] if no process listens or the connection broke, or a
// [*RefusedError]; the Owner then identifies the process that refused, if known.
func Dial(ctx context.Context, dir, operation string, args any) (*Conn, Owner, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, Owner{}, err
	}
	c, err := dialSocket(ctx, dir)
	if err != nil {
		return nil, Owner{}, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	j := &Conn{conn: c, reader: bufio.NewReaderSize(c, 64<<10)}
	var w welcome
	err = writeLine(c, hello{Version: protocolVersion, Operation: operation, Args: raw})
	if err == nil {
		err = readLine(j.reader, &w)
	}
	switch {
	case !stop():
		err = context.Cause(ctx)
	case errors.Is(err, errBadLine):
		err = Refusef(VersionMismatch, "its response is invalid")
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrNoListener, err)
	case w.Refused != nil:
		err = w.Refused
	case w.Version != protocolVersion:
		err = Refusef(VersionMismatch, "it speaks version %d of the control protocol, and this Beam speaks version %d", w.Version, protocolVersion)
	}
	if err != nil {
		c.Close()
		return nil, w.Owner, err
	}
	j.Owner = w.Owner
	return j, w.Owner, nil
}

// Identify returns the owner of a folder.
func Identify(ctx context.Context, dir string) (Owner, error) {
	c, owner, err := Dial(ctx, dir, opIdentify, nil)
	if err != nil {
		return owner, err
	}
	return owner, c.Close()
}

func dialSocket(ctx context.Context, dir string) (*net.UnixConn, error) {
	path, err := findSocketPath(dir)
	if err != nil {
		return nil, err
	}
	if path == filepath.Join(dir, socketName) && len(path) > maxSocketPath {
		return nil, ErrNoListener // the owner has not written the path yet
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // there is no socket, or no process listens on it
		return nil, fmt.Errorf("%w: %w", ErrNoListener, err)
	}
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(os.ErrInvalid, c.Close())
	}
	return unix, nil
}

// Read implements [io.Reader].
func (c *Conn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// Write implements [io.Writer].
func (c *Conn) Write(p []byte) (int, error) { return c.conn.Write(p) }

var _ net.Conn = (*Conn)(nil)

// LocalAddr implements [net.Conn].
func (c *Conn) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// RemoteAddr implements [net.Conn].
func (c *Conn) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// SetReadDeadline implements [net.Conn].
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// CloseWrite ends the stream to the server; reads continue.
func (c *Conn) CloseWrite() error { return c.conn.CloseWrite() }

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }
