package beamtest

import (
	"context"
	"io"
	"net"
	"testing"
)

// A StdioServer serves MCP over a pair of streams, as *beam.Beam does.
type StdioServer interface {
	// ServeStdio serves the client at the other end until in ends or ctx is done.
	ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error
}

// Pipe starts to serve an MCP client in memory, and returns the client's end: what the
// client writes is the server's standard input, and what it reads is the server's
// standard output. Give it to the client of any library:
//
//	conn := beamtest.Pipe(t, b)
//	&mcp.IOTransport{Reader: conn, Writer: conn}                           // go-sdk
//	transport.NewIO(conn, conn, io.NopCloser(strings.NewReader("")))       // mcp-go
//
// Closing the connection, any number of times, ends the session. When the test ends, Pipe
// closes it and waits until the server has returned. The test fails if it returns an
// error.
func Pipe(t testing.TB, b StdioServer) io.ReadWriteCloser {
	t.Helper()
	client, server := net.Pipe()
	// t.Context ends before the cleanup functions run, in which the client still takes
	// its leave.
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
	return client
}
