package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Requests go to all replicas that can be reached, with their bodies, hosts and addresses.
func TestProxy(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Host, " ", r.Header.Get("X-Forwarded-For"), " ", len(body))
	})
	a, b := httptest.NewServer(echo), httptest.NewServer(echo)
	defer a.Close()
	defer b.Close()
	proxy := cluster.NewProxy(1)
	front := httptest.NewServer(proxy)
	defer front.Close()
	defer proxy.Close()
	send := func(size int) (status int, replica, said string) {
		t.Helper()
		// A reader of unknown length is sent as it is read.
		for _, body := range []io.Reader{strings.NewReader(strings.Repeat("x", size)), io.MultiReader(strings.NewReader(strings.Repeat("x", size)))} {
			r, _ := http.NewRequest(http.MethodPost, front.URL, body)
			r.Host = "tools.example"
			r.Header.Set("X-Forwarded-For", "192.0.2.1")
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			status, replica, said = response.StatusCode, response.Header.Get(cluster.ReplicaHeader), string(text)
			if want := fmt.Sprint("tools.example 192.0.2.1, 127.0.0.1 ", size); status == http.StatusOK && said != want {
				t.Errorf("the replica sees %q, want %q", said, want)
			}
		}
		return status, replica, said
	}
	if status, _, _ := send(1); status != http.StatusServiceUnavailable {
		t.Errorf("%d without replicas", status)
	}
	proxy.Add(a.Listener.Addr().String())
	proxy.Add(b.Listener.Addr().String())
	proxy.Add(programtest.FreeAddress(t)) // refuses connections
	seen := make(map[string]int)
	for range 20 {
		status, replica, said := send(1 << 20)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
		seen[replica]++
	}
	if len(seen) != 2 {
		t.Errorf("requests went to %v", seen)
	}
	a.Close() // also connections that the proxy has kept
	for range 10 {
		if status, replica, said := send(10); status != http.StatusOK || replica != b.Listener.Addr().String() {
			t.Fatalf("%d %s from %s", status, said, replica)
		}
	}
	proxy.Remove(b.Listener.Addr().String())
	if status, _, said := send(1); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s of a removed replica", status, said)
	}
}

// Events pass as they are sent. A stream that a replica breaks off is broken off.
func TestProxyStreams(t *testing.T) {
	next := make(chan string)
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for event := range next {
			fmt.Fprintf(w, "data: %s\n\n", event)
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}))
	defer replica.Close()
	proxy := cluster.NewProxy(1)
	proxy.Add(replica.Listener.Addr().String())
	address := programtest.FreeAddress(t)
	if err := proxy.Listen(address); err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	go func() { next <- "first" }()
	response, err := http.Get("http://" + address + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for _, want := range []string{"first", "second"} {
		if want != "first" {
			next <- want
		}
		if line, err := lines.ReadString('\n'); line != "data: "+want+"\n" || err != nil {
			t.Fatalf("%q, %v, want %s", line, err, want)
		}
		_, _ = lines.ReadString('\n')
	}
	close(next)
	if _, err := lines.ReadString('\n'); err != io.ErrUnexpectedEOF {
		t.Errorf("a stream that was broken off ends with %v", err)
	}
}

// A replica that isn't ready gets requests only if none is.
func TestProxyReadiness(t *testing.T) {
	drained := httptest.NewServer(http.NotFoundHandler())
	defer drained.Close()
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ready.Close()
	proxy := cluster.NewProxy(1)
	proxy.Add(drained.Listener.Addr().String())
	proxy.Add(ready.Listener.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go proxy.CheckReadiness(ctx, time.Millisecond)
	status := func() int {
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return w.Code
	}
	inARow := 0
	if !programtest.Poll(func() bool {
		if inARow++; status() != http.StatusOK {
			inARow = 0
		}
		return inARow == 20
	}) {
		t.Error("requests go to a replica that isn't ready")
	}
	proxy.Remove(ready.Listener.Addr().String())
	if got := status(); got != http.StatusNotFound {
		t.Errorf("%d of the only replica", got)
	}
}
