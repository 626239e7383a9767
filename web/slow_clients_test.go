package web_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// These tests run in a synctest bubble, where waiting takes no time, over pipes, which
// have no buffers: a reader that stops blocks the writer at once.

// A pipeListener is a listener whose connections are pipes.
type pipeListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipeListener) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// runInBubble runs a test with a test server in a bubble.
func runInBubble(t *testing.T, test func(t *testing.T, w *testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipeListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
		test(t, newTestServer(t, p, p.dial))
	})
}

// sendSlowly sends a byte per second until the server closes the connection, and returns
// how long that took.
func sendSlowly(t *testing.T, c net.Conn, first, rest string) time.Duration {
	t.Helper()
	began := time.Now()
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		_, _ = io.Copy(io.Discard, c)
	}()
	if _, err := c.Write([]byte(first)); err != nil {
		t.Fatal(err)
	}
	for i := 0; time.Since(began) < time.Hour; i++ {
		if _, err := c.Write([]byte{rest[i%len(rest)]}); err != nil {
			break
		}
		select {
		case <-hungUp:
		case <-time.After(time.Second):
			continue
		}
		break
	}
	c.Close()
	return time.Since(began)
}

// TestSlowRequestsAreCut checks that a slow request is cut off and delays no other.
func TestSlowRequestsAreCut(t *testing.T) {
	const endless = "Content-Length: 100000\r\n"
	tests := []struct {
		name, first, rest string
	}{
		{"a request line", "GET /ru", "n"},
		{"headers", "GET / HTTP/1.1\r\n{cookie}\r\n", "X-Slow: 1\r\n"},
		{"the arguments of a run", "POST /photons/wizard/runs HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\n" + endless + "\r\n", " "},
		{"an answer", "POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\n" + endless + "\r\n", " "},
		{"an answer in chunks", "POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		{"a form", "POST /mcp/request?ask={ask}&action=accept HTTP/1.1\r\n{cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n" + endless + "\r\n", "a"},
		{"a form of parts", "POST /mcp/request?ask={ask}&action=accept HTTP/1.1\r\n{cookie}\r\nContent-Type: multipart/form-data; boundary=b\r\n" + endless + "\r\n--b\r\n", "a"},
		{"a sign-in", "POST /login HTTP/1.1\r\n{cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n" + endless + "\r\n", "a"},
		{"a body that nobody reads", "POST /runs/none/cancel HTTP/1.1\r\n{cookie}\r\n" + endless + "\r\n", "a"},
		{"a body of the wrong kind", "POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: text/plain\r\n" + endless + "\r\n", "a"},
		{"a page with a body", "GET / HTTP/1.1\r\n{cookie}\r\n" + endless + "\r\n", "a"},
		{"a body for another host", "POST / HTTP/1.1\r\nHost: elsewhere.example\r\n" + endless + "\r\n", "a"},
		{"a body for no address", "POST /nothing HTTP/1.1\r\n{cookie}\r\n" + endless + "\r\n", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runInBubble(t, func(t *testing.T, w *testServer) {
				g := w.newRawClient()
				_, id := g.startAndWait("wizard", "{}")
				var wg sync.WaitGroup
				for range 5 {
					c := g.sendRaw("")
					first := strings.NewReplacer("{cookie}", "Host: localhost\r\nCookie: "+g.cookie, "{ask}", id).Replace(tt.first)
					wg.Go(func() {
						if took := sendSlowly(t, c, first, tt.rest); took > 45*time.Second {
							t.Errorf("it took %v", took)
						}
					})
				}
				g.expectServed()
				wg.Wait()
				g.closeIdle()
				w.waitForNoConnections()
			})
		})
	}
}

// TestAStalledUploadIsCut checks that an upload may take long while data arrives, and that
// a stalled one is cut off and leaves nothing behind.
func TestAStalledUploadIsCut(t *testing.T) {
	runInBubble(t, func(t *testing.T, w *testServer) {
		g := w.newRawClient()
		_, id := g.startAndWait("explore_csv", "{}")
		c := g.sendRaw("POST /mcp/request?ask=" + id + "&action=accept HTTP/1.1\r\n{cookie}\r\nContent-Type: multipart/form-data; boundary=b\r\n" +
			"Content-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\r\n")
		began := time.Now()
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it was held for %v", took)
		}
		if left := w.partialUploads(); left != nil {
			t.Errorf("left behind: %q", left)
		}
		g.expectServed()
	})
}

// TestSlowReadersAreDropped checks that readers that stop reading are dropped, and that
// the others miss nothing and are not delayed.
func TestSlowReadersAreDropped(t *testing.T) {
	const stalled, reading, events = 40, 5, 8_000
	runInBubble(t, func(t *testing.T, w *testServer) {
		g := w.newRawClient()
		r, id := g.startAndWait("chatter", `{"events":8000}`)
		before := currentUsage()
		var still []net.Conn
		for range stalled {
			c := g.sendRaw("GET " + r.Events + " HTTP/1.1\r\n{cookie}\r\n\r\n")
			if _, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil); err != nil {
				t.Fatal(err)
			}
			still = append(still, c)
		}
		var wg sync.WaitGroup
		began := time.Now()
		for range reading {
			wg.Go(func() {
				if err := checkAllEvents(g.follow(r.Events, "", nil), events); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("who reads heard the end after %v", took)
				}
			})
		}
		res := g.answerRPC(id, acceptResult(`{"go":true}`))
		expectStatus(t, res, http.StatusAccepted)
		readText(t, res)
		wg.Wait()
		g.closeIdle()
		full := currentUsage()
		w.waitForNoConnections() // they were dropped
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("who doesn't read was kept for %v", took)
		}
		held := full.heap - currentUsage().heap
		if most := int64(stalled * 512 << 10); held > most {
			t.Errorf("readers that stopped held %d bytes, more than %d", held, most)
		}
		if n := currentUsage().goroutines - before.goroutines; n > 5 {
			t.Errorf("%d goroutines are left", n)
		}
		for _, c := range still {
			c.Close()
		}
		g.expectServed()
	})
}

// TestAStalledDownloadIsCut checks that a download that nobody reads is cut off.
func TestAStalledDownloadIsCut(t *testing.T) {
	runInBubble(t, func(t *testing.T, w *testServer) {
		g := w.newRawClient()
		r := g.startRun("maker", "{}")
		var seq string
		for _, e := range g.follow(r.Events, "", nil) {
			if strings.Contains(string(mustMarshal(e.msg)), "octet-stream") {
				seq = e.id
			}
		}
		c := g.sendRaw("GET /runs/" + r.ID + "/artifacts/" + seq + " HTTP/1.1\r\n{cookie}\r\n\r\n")
		if _, err := c.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		g.closeIdle()
		began := time.Now()
		w.waitTimeout = time.Hour
		w.waitForNoConnections()
		if took := time.Since(began); took > 15*time.Minute {
			t.Errorf("it was held for %v", took)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		g.expectServed()
	})
}
