package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// endlessPhoton asks for a text repeatedly.
var endlessPhoton = generators.New("endless", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	for {
		if _, err := ask.Text(yield, "text", "And?"); err != nil {
			return "", err
		}
	}
}, nil)

// BenchmarkAskOverHTTP measures the round trip of an ask on loopback, from the event with
// the question to the event with the outcome, and alternates with the same through a
// bare net/http handler.
func BenchmarkAskOverHTTP(b *testing.B) {
	ours, bare := newBeamRoundTrips(b, newSite(b, "", endlessPhoton)), newBareRoundTrips(b)
	var oursTook, bareTook []time.Duration
	for b.Loop() {
		oursTook = append(oursTook, ours.measure())
		bareTook = append(bareTook, bare.measure())
	}
	p50, floor := median(oursTook), median(bareTook)
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	b.ReportMetric(float64(p50.Microseconds()), "µs/ask-p50")
	b.ReportMetric(float64(floor.Microseconds()), "µs/bare-p50")
	b.ReportMetric(float64(p50)/float64(floor), "x-bare")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// roundTrips makes round trips over a stream and posts.
type roundTrips struct {
	b      *testing.B
	client *http.Client
	lines  *bufio.Reader
	post   func(event []byte) *http.Request
	event  []byte
}

func (t *roundTrips) measure() time.Duration {
	request := t.post(t.event)
	began := time.Now()
	res, err := t.client.Do(request)
	if err != nil {
		t.b.Fatal(err)
	}
	if res.StatusCode != http.StatusAccepted {
		t.b.Fatal(res.Status)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	t.event = t.readQuestion()
	return time.Since(began)
}

// readQuestion reads to the next question.
func (t *roundTrips) readQuestion() []byte {
	for {
		line, err := t.lines.ReadBytes('\n')
		if err != nil {
			t.b.Fatal(err)
		}
		if bytes.Contains(line, []byte("elicitation/create")) {
			return line
		}
	}
}

func newBeamRoundTrips(b *testing.B, s *site) *roundTrips {
	p := s.newSession()
	p.client.Timeout = 0
	run := p.startRun("endless", "{}")
	t := &roundTrips{b: b, client: p.client, lines: bufio.NewReader(p.request("GET", run.Events, "").Body)}
	t.post = func(event []byte) *http.Request {
		var m struct{ ID string }
		if err := json.Unmarshal(bytes.TrimPrefix(event, []byte("data: ")), &m); err != nil {
			b.Fatal(err)
		}
		body := `{"jsonrpc":"2.0","id":"` + m.ID + `","result":{"action":"accept","content":{"text":"more"}}}`
		r, err := http.NewRequest("POST", p.URL+"/mcp/request", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	t.event = t.readQuestion()
	return t
}

// newBareRoundTrips does the same with only net/http: no log, no session, no checks.
func newBareRoundTrips(b *testing.B) *roundTrips {
	answers := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; ; i++ {
			fmt.Fprintf(w, "id: %d\ndata: {\"method\":\"elicitation/create\",\"id\":\"%d\"}\n\n", i, i)
			w.(http.Flusher).Flush()
			select {
			case <-answers:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		var m struct{ ID string }
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answers <- struct{}{}
		w.WriteHeader(http.StatusAccepted)
	})
	server := httptest.NewServer(mux)
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(func() { cancel(); server.Close() })
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/events", nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { res.Body.Close() })
	t := &roundTrips{b: b, client: &http.Client{}, lines: bufio.NewReader(res.Body)}
	t.post = func([]byte) *http.Request {
		r, err := http.NewRequest("POST", server.URL+"/answer", strings.NewReader(`{"id":"1"}`))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	t.event = t.readQuestion()
	return t
}

// BenchmarkRunPage measures the page of a run with an open question, from the request to
// the last byte, compressed as for a browser.
func BenchmarkRunPage(b *testing.B) {
	p := newSite(b, "").newSession()
	run := p.startRun("kitchen_sink", `{"ask":"form"}`)
	p.follow(run.Events, "", isElicitation)
	var size int64
	for b.Loop() {
		res := p.request("GET", run.URL, "", "Accept", "text/html", "Accept-Encoding", "gzip")
		size, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	b.ReportMetric(float64(size), "B/page")
}
