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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// A ward is a playground that listens as beam serve does, and counts its
// connections.
type ward struct {
	*site
	dial  func() (net.Conn, error)
	blobs string
	// patience is how long alone waits.
	patience time.Duration

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended chan struct{} // has a token if a connection ended
}

// newWard serves on a listener; dial connects to it.
func newWard(t testing.TB, l net.Listener, dial func() (net.Conn, error)) *ward {
	t.Helper()
	registry, err := generators.NewRegistry(append(shipped.Photons(), chatter, maker)...)
	if err != nil {
		t.Fatal(err)
	}
	w := &ward{dial: dial, blobs: t.TempDir(), open: make(map[net.Conn]bool), ended: make(chan struct{}, 1), patience: time.Minute}
	blobs, err := blob.Open(w.blobs)
	if err != nil {
		t.Fatal(err)
	}
	engine := run.New(run.Options{Photons: registry, Log: log.NewMemory(), Blobs: blobs, Ephemeral: true, Policy: ask.Policy{OpenPerRun: 10}})
	if err := engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages, err := web.New(web.Config{Engine: engine, Photons: registry, Keys: web.NewKeys()})
	if err != nil {
		t.Fatal(err)
	}
	w.site = &site{Server: &httptest.Server{URL: "http://localhost"}, t: t, web: pages, engine: engine}
	server := pages.HTTP()
	server.ConnState = w.track
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

// onTCP is a ward on the machine's own network.
func onTCP(t testing.TB) *ward {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newWard(t, l, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
}

var chatter = generators.New("chatter", func(_ context.Context, in struct {
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

// maker makes an artifact that no socket's buffers hold.
var maker = generators.New("maker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(&generators.Artifact{Title: "Large", MediaType: "application/octet-stream", Body: make([]byte, 32<<20)})
	return "made", nil
}, nil)

func (w *ward) track(c net.Conn, state http.ConnState) {
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

// alone waits until the server has no connection left.
func (w *ward) alone() {
	w.t.Helper()
	patience := time.NewTimer(w.patience)
	defer patience.Stop()
	for {
		w.mu.Lock()
		n := len(w.open)
		w.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-w.ended:
		case <-patience.C:
			w.t.Fatalf("%d connections are still open", n)
		}
	}
}

// guest is a person of the ward, with a browser session.
type guest struct {
	*person
	ward   *ward
	cookie string
}

func (w *ward) guest() *guest {
	w.t.Helper()
	g := &guest{person: w.person(), ward: w}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return w.dial() }}
	g.client.Transport = transport
	w.t.Cleanup(transport.CloseIdleConnections)
	res := g.do("GET", "/", "")
	text(w.t, res)
	for _, c := range res.Cookies() {
		g.cookie = c.Name + "=" + c.Value
	}
	return g
}

// leave closes the connections that the guest's browser keeps.
func (g *guest) leave() { g.client.CloseIdleConnections() }

// waiting starts a run and returns it with its first question.
func (g *guest) waiting(photon, args string) (started, string) {
	g.t.Helper()
	r := g.start(photon, args)
	told := g.follow(r.Events, "", asks)
	return r, told[len(told)-1].msg.ID
}

// served checks that the playground does what it is for.
func (g *guest) served() {
	g.t.Helper()
	r, id := g.waiting("wizard", "{}")
	res := g.answer(id, accept(`{"name":"Ada"}`))
	status(g.t, res, http.StatusAccepted)
	text(g.t, res)
	res = g.do("POST", r.URL+"/cancel", "")
	status(g.t, res, http.StatusAccepted)
	text(g.t, res)
}

// raw connects and sends a request's bytes. {cookie} stands for the session.
func (g *guest) raw(request string) net.Conn {
	g.t.Helper()
	c, err := g.ward.dial()
	if err != nil {
		g.t.Fatal(err)
	}
	request = strings.ReplaceAll(request, "{cookie}", "Host: localhost\r\nCookie: "+g.cookie)
	if _, err := c.Write([]byte(request)); err != nil {
		g.t.Fatal(err)
	}
	return c
}

// partial are the blobs that were never finished.
func (w *ward) partial() (found []string) {
	_ = filepath.WalkDir(w.blobs, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(path), "incoming-") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// level is what a server takes up.
type level struct {
	goroutines int
	heap       int64
}

func now() level {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return level{runtime.NumGoroutine(), int64(m.HeapAlloc)}
}

// isBackAt reports what is left of what hostile guests made the server take.
func (before level) isBackAt(t testing.TB, spare int64) {
	t.Helper()
	after := now()
	if n := after.goroutines - before.goroutines; n > 10 {
		t.Errorf("%d goroutines are left", n)
	}
	if n := after.heap - before.heap; n > spare {
		t.Errorf("%d bytes of memory are left", n)
	}
}
