package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/web/appview"
)

// A testServer is a server with photons and its engine.
type testServer struct {
	*mcp.Server
	engine  *engine.Engine
	photons *registry.Registry
	close   func() // once
}

var operator = generators.Caller{ID: "operator"}

// newTestServer returns a server that withdraws questions which the client can't be
// asked.
func newTestServer(t testing.TB, photons ...*generators.Photon) *testServer {
	t.Helper()
	return newTestServerOn(t, mcp.AskPolicy{}, runlog.NewMemory(), photons...)
}

// newTaskServer is [newTestServer] for tests of tasks that expect a reply to have what the
// task does next, outside of bubbles.
func newTaskServer(t testing.TB, photons ...*generators.Photon) *testServer {
	t.Helper()
	r := newTestServer(t, photons...)
	r.AwaitEffects()
	return r
}

// newTestServerOn returns a server on a log that outlives it.
func newTestServerOn(t testing.TB, asking mcp.AskPolicy, runs runlog.Log, photons ...*generators.Photon) *testServer {
	t.Helper()
	return newTestServerWith(t, mcp.Config{AskPolicy: asking}, runs, photons...)
}

// newTestServerWith returns a server with a configuration, to which it adds what all tests
// need.
func newTestServerWith(t testing.TB, c mcp.Config, runs runlog.Log, photons ...*generators.Photon) *testServer {
	t.Helper()
	return newLimitedServer(t, c, runs, engine.Limits{}, photons...)
}

// newLimitedServer is [newTestServerWith] with limits of runs.
func newLimitedServer(t testing.TB, c mcp.Config, runs runlog.Log, limits engine.Limits, photons ...*generators.Photon) *testServer {
	t.Helper()
	registry := c.Photons
	if registry == nil {
		registry = mustRegistry(t, photons...)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	engine := engine.New(engine.Options{Photons: registry, Log: runs, Blobs: blobs, Limits: limits, Logger: logger})
	if err := engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Engine, c.Photons, c.Logger = engine, registry, logger
	if c.Apps.Marks != nil {
		c.Apps.View = appview.New(engine)
	}
	c.StateSecret, c.Name, c.Version = bytes.Repeat([]byte{1}, 32), "beam", "test"
	server, err := mcp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &testServer{Server: server, engine: engine, photons: registry}
	r.close = sync.OnceFunc(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var err error
		stopped := func() bool { err = engine.Close(ctx); return err == nil } // within two seconds, unless the machine stands still
		if !programtest.Poll(stopped) {
			t.Error(err)
		}
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.close)
	return r
}

func mustRegistry(t testing.TB, photons ...*generators.Photon) *registry.Registry {
	t.Helper()
	registry, err := registry.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// A stdioClient is a client that sends and receives JSON-RPC line by line.
type stdioClient struct {
	t        testing.TB
	in       io.WriteCloser
	lines    chan string
	serveErr chan error
}

const pagesOrigin = "http://127.0.0.1:3008"

// connectStdio connects a client to the server over a pair of pipes.
func (b *testServer) connectStdio(t testing.TB) *stdioClient {
	t.Helper()
	return b.connectStdioAs(t, operator)
}

// connectStdioAs connects a client whose runs belong to caller.
func (b *testServer) connectStdioAs(t testing.TB, caller generators.Caller) *stdioClient {
	t.Helper()
	in, to := io.Pipe()
	outR, outW := io.Pipe()
	w := &stdioClient{t: t, in: to, lines: make(chan string, 100_000), serveErr: make(chan error, 1)}
	go func() {
		err := b.ServeStdio(t.Context(), in, outW, caller, func() (string, error) { return pagesOrigin, nil })
		outW.Close()
		w.serveErr <- err
	}()
	go func() {
		defer close(w.lines)
		s := bufio.NewScanner(outR)
		s.Buffer(nil, 32<<20)
		for s.Scan() {
			w.lines <- s.Text()
		}
	}()
	t.Cleanup(func() { to.Close(); outR.Close() })
	return w
}

// sendLine sends a message.
func (w *stdioClient) sendLine(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

// nextLine returns the next line that the server sent.
func (w *stdioClient) nextLine() string {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatal("the server closed its output")
		}
		return line
	case <-time.After(programtest.WaitTimeout):
		w.t.Fatal("the server sends nothing")
	}
	return ""
}

// expectLine compares the next line, with run ids replaced by RUN, with want.
func (w *stdioClient) expectLine(want string) {
	w.t.Helper()
	if got := w.nextLine(); maskIDs(got) != want {
		w.t.Errorf("the server sent\n%s\nwant\n%s", maskIDs(got), want)
	}
}

// closeAndWait closes the client's end and waits for the server.
func (w *stdioClient) closeAndWait() {
	w.t.Helper()
	w.in.Close()
	select {
	case err := <-w.serveErr:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(programtest.ExitTimeout):
		w.t.Fatal("the server goes on though its input has ended")
	}
}

// initialize initializes a session.
func (w *stdioClient) initialize(version, capabilities string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"wire","version":"1"}}}`, version, capabilities)
	if got := jsonMember(w.t, w.nextLine(), "result", "protocolVersion"); got != `"`+version+`"` {
		w.t.Fatalf("the server chose protocol version %s, want %s", got, version)
	}
	w.sendLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// modernMeta returns the _meta of a request of 2026-07-28.
func modernMeta(capabilities, more string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s%s}`, capabilities, more)
}

// jsonMember returns the JSON at a path of members.
func jsonMember(t testing.TB, message string, path ...string) string {
	t.Helper()
	raw := json.RawMessage(message)
	for _, name := range path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatalf("%s has no %v", message, path)
		}
		raw = members[name]
	}
	return string(raw)
}

// must returns v. It panics if err isn't nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
