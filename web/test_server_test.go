package web_test

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// A testServer is a playground that listens as beam serve does and counts its connections.
type testServer struct {
	*site
	dial  func() (net.Conn, error)
	blobs string
	// waitTimeout is how long waitForNoConnections waits.
	waitTimeout time.Duration

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended chan struct{} // has a token if a connection ended
}

// newTestServer serves on a listener; dial connects to it.
func newTestServer(t testing.TB, l net.Listener, dial func() (net.Conn, error)) *testServer {
	t.Helper()
	registry, err := registry.NewRegistry(append(shipped.Photons(), chattyPhoton, largeArtifactPhoton)...)
	if err != nil {
		t.Fatal(err)
	}
	w := &testServer{dial: dial, blobs: t.TempDir(), open: make(map[net.Conn]bool), ended: make(chan struct{}, 1), waitTimeout: time.Minute}
	blobs, err := blob.Open(w.blobs)
	if err != nil {
		t.Fatal(err)
	}
	engine := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Ephemeral: true, Policy: asking.Policy{OpenPerRun: 10}})
	if err := engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages, err := web.New(web.Config{Streams: budget.New(budget.Streams, budget.Limit{Each: 50_000, All: 50_000}), Engine: engine, Photons: registry, Keys: identity.NewKeys()})
	if err != nil {
		t.Fatal(err)
	}
	w.site = &site{Server: &httptest.Server{URL: "http://localhost"}, t: t, web: pages, engine: engine}
	server := pages.NewHTTPServer()
	server.ConnState = w.trackConnection
	go server.Serve(l)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		engine.Close(ctx)
		pages.Close()
		server.Close()
		blobs.Close()
	})
	return w
}

// newTCPTestServer returns a test server on the loopback interface.
func newTCPTestServer(t testing.TB) *testServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newTestServer(t, l, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
}

var chattyPhoton = generators.New("chatter", func(_ context.Context, in struct {
	Events int `json:"events"`
}, yield generators.Yield) (string, error) {
	if _, err := ask.Confirm(yield, "go", "Shall I talk?"); err != nil {
		return "", err
	}
	for i := range in.Events {
		yield(generators.Statusf("event %d", i))
	}
	return "done", nil
}, nil)

// largeArtifactPhoton makes an artifact larger than any socket buffer.
var largeArtifactPhoton = generators.New("maker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(&generators.Artifact{Title: "Large", MediaType: "application/octet-stream", Body: make([]byte, 32<<20)})
	return "made", nil
}, nil)

func (w *testServer) trackConnection(c net.Conn, state http.ConnState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch state {
	case http.StateNew:
		w.open[c] = true
	case http.StateClosed:
		delete(w.open, c)
		select {
		case w.ended <- struct{}{}:
		default:
		}
	}
}

// waitForNoConnections waits until the server has no connections.
func (w *testServer) waitForNoConnections() {
	w.t.Helper()
	timer := time.NewTimer(w.waitTimeout)
	defer timer.Stop()
	for {
		w.mu.Lock()
		n := len(w.open)
		w.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-w.ended:
		case <-timer.C:
			w.t.Fatalf("%d connections are still open", n)
		}
	}
}

// A rawClient is a client of a test server, with a browser session.
type rawClient struct {
	*browserSession
	server *testServer
	cookie string
}

func (w *testServer) newRawClient() *rawClient {
	w.t.Helper()
	g := &rawClient{browserSession: w.newSession(), server: w}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return w.dial() }}
	g.client.Transport = transport
	w.t.Cleanup(transport.CloseIdleConnections)
	res := g.request("GET", "/", "")
	readText(w.t, res)
	for _, c := range res.Cookies() {
		g.cookie = c.Name + "=" + c.Value
	}
	return g
}

// closeIdle closes the client's idle connections.
func (g *rawClient) closeIdle() { g.client.CloseIdleConnections() }

// startAndWait starts a run and returns it with its first question.
func (g *rawClient) startAndWait(photon, args string) (startedRun, string) {
	g.t.Helper()
	r := g.startRun(photon, args)
	received := g.follow(r.Events, "", isElicitation)
	return r, received[len(received)-1].msg.ID
}

// expectServed checks that the playground still works.
func (g *rawClient) expectServed() {
	g.t.Helper()
	r, id := g.startAndWait("wizard", "{}")
	res := g.answerRPC(id, acceptResult(`{"name":"Ada"}`))
	expectStatus(g.t, res, http.StatusAccepted)
	readText(g.t, res)
	res = g.request("POST", r.URL+"/cancel", "")
	expectStatus(g.t, res, http.StatusAccepted)
	readText(g.t, res)
}

// sendRaw connects and sends a request's bytes, with {cookie} replaced by the session.
func (g *rawClient) sendRaw(request string) net.Conn {
	g.t.Helper()
	c, err := g.server.dial()
	if err != nil {
		g.t.Fatal(err)
	}
	request = strings.ReplaceAll(request, "{cookie}", "Host: localhost\r\nCookie: "+g.cookie)
	if _, err := c.Write([]byte(request)); err != nil {
		g.t.Fatal(err)
	}
	return c
}

// partialUploads returns the unfinished blobs.
func (w *testServer) partialUploads() (found []string) {
	_ = filepath.WalkDir(w.blobs, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(path), "incoming-") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// resourceUsage is what a server uses.
type resourceUsage struct {
	goroutines int
	heap       int64
}

func currentUsage() resourceUsage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return resourceUsage{runtime.NumGoroutine(), int64(m.HeapAlloc)}
}

// expectReleased checks that the server released what the clients made it allocate.
func (before resourceUsage) expectReleased(t testing.TB, spare int64) {
	t.Helper()
	after := currentUsage()
	if n := after.goroutines - before.goroutines; n > 10 {
		t.Errorf("%d goroutines are left", n)
	}
	if n := after.heap - before.heap; n > spare {
		t.Errorf("%d bytes of memory are left", n)
	}
}
