package beamtest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	libtypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// newBeam returns a Beam, which the test's end shuts down.
func newBeam(t *testing.T, photons ...*generators.Photon) *beam.Beam {
	t.Helper()
	b, err := beam.New(beam.Config{Photons: photons})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return b
}

var greet = newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
	name, err := ask.Text(yield, "name", "Who is it?")
	return "Hello, " + name, err
})

func TestPipeWithGoSDK(t *testing.T) {
	conn := beamtest.Pipe(t, newBeam(t, greet))
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "photon"})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Content[0].(*mcp.TextContent).Text; got != "Hello, Ada" {
		t.Errorf("got %q", got)
	}
	if err := session.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// A session works in a bubble, too.
func TestPipeInBubble(t *testing.T) {
	synctest.Test(t, TestPipeWithGoSDK)
}

// A mcpGoPerson answers the questions of mcp-go's client.
type mcpGoPerson struct{}

func (mcpGoPerson) Elicit(context.Context, libtypes.ElicitationRequest) (*libtypes.ElicitationResult, error) {
	r := &libtypes.ElicitationResult{}
	r.Action, r.Content = libtypes.ElicitationResponseActionAccept, map[string]any{"name": "Ada"}
	return r, nil
}

// The session is left open: the test's end ends it.
func TestPipeWithMCPGo(t *testing.T) {
	conn := beamtest.Pipe(t, newBeam(t, greet))
	c := client.NewClient(transport.NewIO(conn, conn, io.NopCloser(strings.NewReader(""))), client.WithElicitationHandler(mcpGoPerson{}))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), libtypes.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	call := libtypes.CallToolRequest{}
	call.Params.Name = "photon"
	result, err := c.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Content[0].(libtypes.TextContent).Text; got != "Hello, Ada" {
		t.Errorf("got %q", got)
	}
}

// A serverFunc serves a client as a function says.
type serverFunc func(ctx context.Context, in io.Reader, out io.Writer) error

func (f serverFunc) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return f(ctx, in, out)
}

// cleanupRecorder runs the cleanup functions when the test says so.
type cleanupRecorder struct {
	recorder
	cleanup func()
}

func (r *cleanupRecorder) Cleanup(f func()) { r.cleanup = f }

// The end of the test waits for the server, which may still write, and reports its error.
func TestPipeEndsWithTheTest(t *testing.T) {
	r := &cleanupRecorder{recorder: recorder{TB: t}}
	returned := false
	conn := beamtest.Pipe(r, serverFunc(func(ctx context.Context, in io.Reader, out io.Writer) error {
		if _, err := io.Copy(io.Discard, in); err != nil || ctx.Err() != nil {
			t.Errorf("the input ended with %v, the context is over: %v", err, ctx.Err())
		}
		_, err := out.Write([]byte("late"))
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a late write: %v", err)
		}
		returned = true
		return errors.New("no luck")
	}))
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	r.cleanup()
	if want := "ServeStdio: no luck"; !returned || strings.Join(r.errors, "\n") != want {
		t.Errorf("it has returned: %t; reported is %q, want %q", returned, r.errors, want)
	}
}

// A server that returns early ends the client's reads.
func TestPipeOfAServerThatReturns(t *testing.T) {
	conn := beamtest.Pipe(t, serverFunc(func(context.Context, io.Reader, io.Writer) error { return nil }))
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func TestPipeReadAfterClose(t *testing.T) {
	conn := beamtest.Pipe(t, newBeam(t))
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("a read returned %d, %v", n, err)
	}
}
