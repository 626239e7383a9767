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

// endless asks for a text again and again.
var endless = generators.New("endless", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	for {
		if _, err := ask.Text(yield, "text", "And?"); err != nil {
			return "", err
		}
	}
}, nil)

// BenchmarkAskOverHTTP is the round trip of an ask on loopback, from the event
// that tells the question to the one that tells what came of the answer, and
// the same through a bare net/http handler, in turns.
func BenchmarkAskOverHTTP(b *testing.B) {
	ours, bare := newBeamTrips(b, newSite(b, "", endless)), newBareTrips(b)
	var oursTook, bareTook []time.Duration
	for b.Loop() {
		oursTook = append(oursTook, ours.trip())
		bareTook = append(bareTook, bare.trip())
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

// trips makes round trips over a stream and posts.
type trips struct {
	b      *testing.B
	client *http.Client
	lines  *bufio.Reader
	post   func(event []byte) *http.Request
	event  []byte
}

func (t *trips) trip() time.Duration {
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
	t.event = t.next()
	return time.Since(began)
}

// next reads up to the next question.
func (t *trips) next() []byte {
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

func newBeamTrips(b *testing.B, s *site) *trips {
	p := s.person()
	p.client.Timeout = 0
	run := p.start("endless", "{}")
	t := &trips{b: b, client: p.client, lines: bufio.NewReader(p.do("GET", run.Events, "").Body)}
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
	t.event = t.next()
	return t
}

// newBareTrips does the same with nothing but net/http: no log, no session, no
// check of anything.
func newBareTrips(b *testing.B) *trips {
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
	t := &trips{b: b, client: &http.Client{}, lines: bufio.NewReader(res.Body)}
	t.post = func([]byte) *http.Request {
		r, err := http.NewRequest("POST", server.URL+"/answer", strings.NewReader(`{"id":"1"}`))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	t.event = t.next()
	return t
}

// BenchmarkRunPage is a run's page with its open question, from the request to
// the last byte, compressed as for a browser.
func BenchmarkRunPage(b *testing.B) {
	p := newSite(b, "").person()
	run := p.start("kitchen-sink", `{"ask":"form"}`)
	p.follow(run.Events, "", asks)
	var size int64
	for b.Loop() {
		res := p.do("GET", run.URL, "", "Accept", "text/html", "Accept-Encoding", "gzip")
		size, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	b.ReportMetric(float64(size), "B/page")
}
