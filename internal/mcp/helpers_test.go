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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
)

// rig is a server with photons, and the engine behind it.
type rig struct {
	*mcp.Server
	engine  *run.Engine
	photons *generators.Registry
	close   func() // once
}

var operator = run.Caller{"operator"}

// newRig is a rig that refuses what can't be asked.
func newRig(t testing.TB, photons ...*generators.Photon) *rig {
	t.Helper()
	return rigged(t, mcp.Asking{}, log.NewMemory(), photons...)
}

// rigged is a rig over a log, which outlives it.
func rigged(t testing.TB, asking mcp.Asking, runs log.Log, photons ...*generators.Photon) *rig {
	t.Helper()
	registry, err := generators.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	engine := run.New(run.Options{Photons: registry, Log: runs, Blobs: blobs, Logger: logger})
	if err := engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	server, err := mcp.New(mcp.Config{
		Engine: engine, Photons: registry, Secret: bytes.Repeat([]byte{1}, 32), Name: "beam", Version: "test", Asking: asking, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Server: server, engine: engine, photons: registry}
	r.close = sync.OnceFunc(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := engine.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.close)
	return r
}

// A wire is a client that speaks JSON-RPC line by line, as written.
type wire struct {
	t     testing.TB
	in    io.WriteCloser
	lines chan string
	ended chan error
}

const pagesOrigin = "http://127.0.0.1:3008"

// stdio connects a wire to the server over a pair of pipes.
func (b *rig) stdio(t testing.TB) *wire {
	t.Helper()
	in, to := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t: t, in: to, lines: make(chan string, 100_000), ended: make(chan error, 1)}
	go func() {
		err := b.ServeStdio(t.Context(), in, outW, operator, func() (string, error) { return pagesOrigin, nil })
		outW.Close()
		w.ended <- err
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

// send sends a message of one line.
func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

// next is the next line that the server sent.
func (w *wire) next() string {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatal("the server closed its output")
		}
		return line
	case <-time.After(time.Minute):
		w.t.Fatal("the server said nothing for a minute")
	}
	return ""
}

// expect holds the next line against what it should be. Ids of runs are written
// as RUN in it.
func (w *wire) expect(want string) {
	w.t.Helper()
	if got := w.next(); anonymous(got) != want {
		w.t.Errorf("the server said\n%s\nwant\n%s", anonymous(got), want)
	}
}

// end closes the client's end and waits for the server.
func (w *wire) end() {
	w.t.Helper()
	w.in.Close()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(5 * time.Second):
		w.t.Fatal("the server went on for 5 s after the end of its input")
	}
}

// hello initializes a session.
func (w *wire) hello(version, capabilities string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"wire","version":"1"}}}`, version, capabilities)
	if got := member(w.t, w.next(), "result", "protocolVersion"); got != `"`+version+`"` {
		w.t.Fatalf("the server chose protocol version %s, want %s", got, version)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// modern is the _meta of a request of 2026-07-28.
func modern(capabilities, more string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s%s}`, capabilities, more)
}

// member is the JSON at a path of members.
func member(t testing.TB, message string, path ...string) string {
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
