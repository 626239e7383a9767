package beamtest

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// Pipe serves an MCP client in memory, with a *beam.Beam or another server whose ServeStdio
// serves until in ends or ctx is done. It returns the client's end of the connection. What
// is written to it is the server's standard input, and what is read from it is the
// server's standard output. It can be the transport of any library's client:
//
//	conn := beamtest.Pipe(t, b)
//	&mcp.IOTransport{Reader: conn, Writer: conn}                           // go-sdk
//	transport.NewIO(conn, conn, io.NopCloser(strings.NewReader("")))       // mcp-go
//
// Closing the connection ends the session; closing it again has no effect. When the test
// ends, the connection is closed and the test waits for the server to return. The test
// fails if the server returns an error. A read after the connection is closed returns
// [io.EOF].
func Pipe(t testing.TB, b interface {
	ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error
}) io.ReadWriteCloser {
	t.Helper()
	client, server := net.Pipe()
	// t.Context ends before the cleanup functions run, one of which may close the client.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		defer server.Close() // the client's reads end
		done <- b.ServeStdio(ctx, server, server)
	}()
	t.Cleanup(func() {
		defer cancel()
		client.Close()
		if err := <-done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	return pipeEnd{client}
}

// pipeEnd reports a session that its client has closed as ended, not as an error, which
// clients would log.
type pipeEnd struct{ net.Conn }

func (p pipeEnd) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}
