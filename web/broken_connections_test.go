package web_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// maxOpenStreams returns how many of the wanted connections this process can open to
// itself: each takes two file descriptors.
func maxOpenStreams(t *testing.T, wanted int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // Go has raised it already
	const spare = 500
	if possible := (int(limit.Max) - spare) / 2; possible < wanted {
		t.Logf("%d streams instead of %d: the limit of open files is %d", possible, wanted, limit.Max)
		return possible
	}
	return wanted
}

// TestTenThousandStreams checks that the server still serves others while ten thousand
// streams are open, and that it releases their resources afterwards.
func TestTenThousandStreams(t *testing.T) {
	w := newTCPTestServer(t)
	g := w.newRawClient()
	r, id := g.startAndWait("wizard", "{}")
	g.closeIdle()
	w.waitForNoConnections()
	before := currentUsage()
	var open []net.Conn
	var mu sync.Mutex
	var wg sync.WaitGroup
	wanted := 10_000
	if testing.Short() {
		wanted = 1_000
	}
	n := maxOpenStreams(t, wanted)
	for part := range 8 {
		wg.Go(func() {
			for i := part; i < n; i += 8 {
				c := g.sendRaw("GET " + r.Events + "?after=1000 HTTP/1.1\r\n{cookie}\r\n\r\n")
				readUntil(t, c, "retry:")
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	standing := currentUsage()
	t.Logf("%d streams: %d bytes and %.1f goroutines each", n, (standing.heap-before.heap)/int64(n), float64(standing.goroutines-before.goroutines)/float64(n))
	g.expectServed()
	for _, c := range open {
		c.Close()
	}
	g.closeIdle()
	w.waitForNoConnections()
	clear(open)
	// The Go runtime keeps the descriptor of a goroutine, about 500 bytes, for reuse.
	before.expectReleased(t, 8<<20+int64(n)*2*500)
	res := g.answerRPC(id, acceptResult(`{"name":"Ada"}`))
	expectStatus(t, res, http.StatusAccepted)
}

// readUntil reads until it has read a text.
func readUntil(t *testing.T, c net.Conn, want string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	var all []byte
	b := make([]byte, 512)
	for !strings.Contains(string(all), want) {
		n, err := c.Read(b)
		if all = append(all, b[:n]...); err != nil {
			t.Errorf("%v after %.500s", err, all)
			return
		}
	}
}

// TestConnectionsCutInEveryPhase cuts connections at every phase of a request, and checks
// that the server releases their resources and that the question stays open.
func TestConnectionsCutInEveryPhase(t *testing.T) {
	w := newTCPTestServer(t)
	g := w.newRawClient()
	talk, _ := g.startAndWait("chatter", `{"events":1}`)
	_, file := g.startAndWait("explore_csv", "{}")
	_, ask := g.startAndWait("wizard", "{}")
	made := g.startRun("maker", "{}")
	var seq string
	for _, e := range g.follow(made.Events, "", nil) {
		if seq == "" && strings.Contains(string(mustMarshal(e.msg)), "octet-stream") { // the response has it, too
			seq = e.id
		}
	}
	upload := "POST /mcp/request?ask=" + file + "&action=accept HTTP/1.1\r\n{cookie}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n"
	part := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n"
	post := "POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\n"
	phases := []struct{ name, send, hear string }{
		{"before anything", "", ""},
		{"in the request line", "GET /ru", ""},
		{"in a header", "GET /runs HTTP/1.1\r\nHost: loc", ""},
		{"before a body", post + "Content-Length: 500\r\n\r\n", ""},
		{"in a body", post + "Content-Length: 500\r\n\r\n" + `{"jsonrpc":"2.0","id":"` + ask + `","result":{"action":"acc`, ""},
		{"in a chunk", post + "Transfer-Encoding: chunked\r\n\r\n40\r\n" + `{"jsonrpc":"2.0"`, ""},
		{"before an upload", upload, ""},
		{"in the head of a part", upload + part[:40], ""},
		{"in a file", upload + part + strings.Repeat("a,b,c\n", 100_000), ""},
		{"before a response", "GET /runs HTTP/1.1\r\n{cookie}\r\n\r\n", ""},
		{"in a response", "GET /runs/" + made.ID + "/artifacts/" + seq + " HTTP/1.1\r\n{cookie}\r\n\r\n", "200 OK"},
		{"in a stream", "GET " + talk.Events + " HTTP/1.1\r\n{cookie}\r\n\r\n", "elicitation/create"},
		{"in the stream of a page", "GET " + talk.Events + " HTTP/1.1\r\n{cookie}\r\nDatastar-Request: true\r\n\r\n", "200 OK"},
		{"in the stream of the lists", "GET /updates?page=runs HTTP/1.1\r\n{cookie}\r\nDatastar-Request: true\r\n\r\n", "200 OK"},
		{"between two requests", "GET /healthz HTTP/1.1\r\n{cookie}\r\n\r\n", "ok\n"},
		{"in the second of two requests", "GET /healthz HTTP/1.1\r\n{cookie}\r\n\r\nGET /ru", "ok\n"},
	}
	g.expectServed()
	g.closeIdle()
	w.waitForNoConnections()
	before := currentUsage()
	for _, phase := range phases {
		t.Run(phase.name, func(t *testing.T) {
			for _, reset := range []bool{false, true, false, true} {
				c := g.sendRaw(phase.send)
				if phase.hear != "" {
					readUntil(t, c, phase.hear)
				}
				if reset {
					_ = c.(*net.TCPConn).SetLinger(0)
				}
				c.Close()
			}
			w.waitForNoConnections()
		})
	}
	before.expectReleased(t, 8<<20)
	if left := w.partialUploads(); left != nil {
		t.Errorf("left behind: %q", left)
	}
	expectStatus(t, g.answerRPC(ask, acceptResult(`{"name":"Ada"}`)), http.StatusAccepted)
	g.expectServed()
}

// TestGuessedAndOverheardIDs checks that a guessed id is not found and that an
// overheard one only leads to the sign-in page.
func TestGuessedAndOverheardIDs(t *testing.T) {
	w := newTCPTestServer(t)
	owner, stranger := w.newRawClient(), w.newRawClient()
	r, id := owner.startAndWait("wizard", "{}")
	guess := func() string {
		var b [16]byte
		_, _ = rand.Read(b[:])
		return hex.EncodeToString(b[:])
	}
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "/runs/{run}", ""},
		{"GET", "/runs/{run}/events", ""},
		{"GET", "/runs/{run}/artifacts/1", ""},
		{"POST", "/runs/{run}/cancel", ""},
		{"GET", "/asks/{ask}", ""},
		{"POST", "/mcp/request", `{"jsonrpc":"2.0","id":"{ask}","result":{"action":"accept","content":{"name":"Eve"}}}`},
		{"POST", "/mcp/request?ask={ask}&action=decline", ""},
	} {
		for run, want := range map[string]int{guess(): 404, r.ID: 403, r.ID[1:]: 404, r.ID + ".": 404} {
			ask := run + ".3"
			if run == r.ID {
				ask = id
			}
			fill := strings.NewReplacer("{run}", run, "{ask}", ask)
			contentType := "application/json"
			if strings.Contains(tt.path, "action") {
				contentType = "application/x-www-form-urlencoded"
			}
			res := stranger.request(tt.method, fill.Replace(tt.path), fill.Replace(tt.body), "Content-Type", contentType)
			if res.StatusCode != want {
				t.Errorf("%s %s: %s, want %d", tt.method, fill.Replace(tt.path), res.Status, want)
			}
			if said := readText(t, res); strings.Contains(said, "wizard") || strings.Contains(said, "name") {
				t.Errorf("%s %s reveals to a stranger: %s", tt.method, tt.path, said)
			}
		}
	}
	expectStatus(t, owner.answerRPC(id, acceptResult(`{"name":"Ada"}`)), http.StatusAccepted)
}

// TestExcessiveRequestsAreRejected checks that requests that are too large, too deep or
// too many get a fast and short error.
func TestExcessiveRequestsAreRejected(t *testing.T) {
	w := newTCPTestServer(t)
	g := w.newRawClient()
	_, id := g.startAndWait("wizard", "{}")
	g.closeIdle()
	before := currentUsage()
	answer := func(content string) string {
		return `{"jsonrpc":"2.0","id":"` + id + `","result":{"action":"accept","content":` + content + `}}`
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	form := "application/x-www-form-urlencoded"
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		want                     []int
	}{
		{"a header", "GET", "/", "", []string{"X-Large", strings.Repeat("x", 100<<10)}, []int{431}},
		{"an address", "GET", "/runs/" + strings.Repeat("x", 100<<10), "", nil, []int{431}},
		{"a cookie", "GET", "/healthz", "", []string{"Cookie", "beam_x=" + strings.Repeat("x", 30<<10)}, []int{200}},
		{"the id of a run", "GET", "/runs/" + strings.Repeat("x", 50<<10), "", nil, []int{404}},
		{"the id of an ask", "POST", "/mcp/request", `{"jsonrpc":"2.0","id":"` + strings.Repeat("7", 500<<10) + `.1","result":{"action":"cancel"}}`, nil, []int{404}},
		{"an event's id", "GET", "/runs", "", []string{"Last-Event-ID", strings.Repeat("9", 50<<10)}, []int{200}},
		{"an idempotency key", "POST", "/photons/wizard/runs", "{}", []string{"Idempotency-Key", strings.Repeat("k", 50<<10)}, []int{400}},
		{"an answer", "POST", "/mcp/request", answer(`{"name":"` + strings.Repeat("x", 2<<20) + `"}`), nil, []int{413}},
		{"arguments", "POST", "/photons/wizard/runs", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`, nil, []int{413}},
		{"depth", "POST", "/mcp/request", deep(500_000), nil, []int{400}},
		{"the depth of an answer", "POST", "/mcp/request", answer(`{"name":` + deep(9_000) + `}`), nil, []int{422}},
		{"the depth of arguments", "POST", "/photons/wizard/runs", `{"x":` + deep(400_000) + `}`, nil, []int{400, 422}},
		{"properties", "POST", "/mcp/request", answer("{" + strings.Repeat(`"a":1,`, 150_000) + `"name":"Ada and many more"}`), nil, []int{202}},
		{"fields of a form", "POST", "/photons/wizard/runs", strings.Repeat("a=1&", 250_000), []string{"Content-Type", form}, []int{303, 400}},
		{"a form", "POST", "/photons/wizard/runs", "a=" + strings.Repeat("x", 2<<20), []string{"Content-Type", form}, []int{413}},
		{"parts of a form", "POST", "/mcp/request?ask={next}&action=accept", strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n", 15_000) + "--b--\r\n",
			[]string{"Content-Type", "multipart/form-data; boundary=b"}, []int{400, 413}},
		{"the token of a sign-in", "POST", "/login", "token=" + strings.Repeat("x", 2<<20), []string{"Content-Type", form}, []int{413}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.path, "{next}") {
				_, next := g.startAndWait("wizard", "{}")
				tt.path = strings.ReplaceAll(tt.path, "{next}", next)
			}
			res := g.request(tt.method, tt.path, tt.body, append([]string{"Content-Type", "application/json"}, tt.headers...)...)
			said := readText(t, res)
			if !strings.Contains(fmt.Sprint(tt.want), fmt.Sprint(res.StatusCode)) {
				t.Errorf("%s, want one of %d: %.300s", res.Status, tt.want, said)
			}
			if res.StatusCode >= 400 && len(said) > 4<<10+len(tt.body) { // an id is received back
				t.Errorf("the error has %d bytes: %.300s", len(said), said)
			}
		})
	}
	g.closeIdle()
	w.waitForNoConnections()
	before.expectReleased(t, 16<<20)

	// An endless body is cut off at the limit.
	c := g.sendRaw("POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	go func() {
		for {
			if _, err := io.WriteString(c, "10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n"); err != nil {
				return
			}
		}
	}()
	readUntil(t, c, "413")
	_, _ = io.Copy(io.Discard, c)
	c.Close()
	w.waitForNoConnections()
	g.expectServed()
}
