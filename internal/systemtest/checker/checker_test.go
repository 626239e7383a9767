package checker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
)

// A fault breaks a promise of the Beam behind it.
type fault func(beam http.Handler) http.Handler

// A rewriter changes what is written to a response.
type rewriter struct {
	http.ResponseWriter
	change func(body string) string
}

func (w rewriter) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (w rewriter) Write(p []byte) (int, error) {
	w.Header().Del("Content-Length")
	_, err := io.WriteString(w.ResponseWriter, w.change(string(p)))
	return len(p), err
}

// Unwrap lets [http.ResponseController] flush.
func (w rewriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// onResponse returns a fault that changes what is written in response to some requests.
func onResponse(path string, change func(n int64, body string) string) fault {
	match := regexp.MustCompile(path)
	return func(beam http.Handler) http.Handler {
		var n atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match.MatchString(r.Method + " " + r.URL.Path) {
				n := n.Add(1)
				r.Header.Del("Accept-Encoding")
				w = rewriter{w, func(body string) string { return change(n, body) }}
			}
			beam.ServeHTTP(w, r)
		})
	}
}

// onAnswer returns a fault of requests that answer questions.
func onAnswer(serve func(beam http.Handler, w http.ResponseWriter, r *http.Request)) fault {
	return func(beam http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp/request" {
				serve(beam, w, r)
				return
			}
			beam.ServeHTTP(w, r)
		})
	}
}

var listedAsk = regexp.MustCompile(`"id":"([0-9a-f]+\.\d+)"`)

var textEvents = regexp.MustCompile(`(?s)id: \d+\ndata: [^\n]*at work[^\n]*\n\n`)

// Each breaks one promise, which the checker must notice.
var faults = map[string]struct {
	fault fault
	want  string // a part of the report
}{
	"an event is lost": {onResponse("GET /runs/.*/events", func(n int64, body string) string {
		if n%2 == 0 {
			return textEvents.ReplaceAllLiteralString(body, "")
		}
		return body
	}), "its stream was"},
	"an event is sent twice": {onResponse("GET /runs/.*/events", func(_ int64, body string) string {
		return textEvents.ReplaceAllStringFunc(body, func(e string) string { return e + e })
	}), "follows event"},
	"a run is started twice": {onResponse("POST /photons/", func(n int64, body string) string {
		return regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(body, fmt.Sprintf("%032x", n))
	}), ""},
	"a settled question is listed": {onResponse("GET /asks$", func() func(int64, string) string {
		var first atomic.Pointer[string]
		return func(_ int64, body string) string {
			if found := listedAsk.FindStringSubmatch(body); found != nil {
				first.CompareAndSwap(nil, &found[1])
			}
			if id := first.Load(); id != nil && !strings.Contains(body, *id) {
				body = strings.Replace(body, `"asks":[`, `"asks":[{"id":"`+*id+`"},`, 1)
				return strings.Replace(body, "},]", "}]", 1)
			}
			return body
		}
	}()), "is settled, and listed"},
	"an open question isn't listed": {onResponse("GET /asks$", func(int64, string) string { return `{"asks":[],"count":0}` }), "in no list"},
	"an answer is acknowledged and another one recorded": {onAnswer(func(beam http.Handler, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(" of client"), []byte(" of nobody"))))
		r.ContentLength = -1
		beam.ServeHTTP(w, r)
	}), "it has returned the answers"},
	"both answers are acknowledged": {onAnswer(func(beam http.Handler, w http.ResponseWriter, r *http.Request) {
		beam.ServeHTTP(conflictHider{w}, r)
	}), "are all accepted"},
	"the wrong person answers": {func(beam http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("Authorization"), "of-eve") {
				r.Header.Set("Authorization", "Bearer token-of-ada")
			}
			beam.ServeHTTP(w, r)
		})
	}, "the answer of eve"},
}

// conflictHider responds with 202 instead of 409.
type conflictHider struct{ http.ResponseWriter }

func (w conflictHider) WriteHeader(status int) {
	if status == http.StatusConflict {
		status = http.StatusAccepted
	}
	w.ResponseWriter.WriteHeader(status)
}

func TestNoFault(t *testing.T) {
	if reports := checkBeam(t, func(beam http.Handler) http.Handler { return beam }); reports != "" {
		t.Error(reports)
	}
}

func TestFaultsAreNoticed(t *testing.T) {
	for name, tt := range faults {
		t.Run(name, func(t *testing.T) {
			if reports := checkBeam(t, tt.fault); reports == "" || !strings.Contains(reports, tt.want) {
				t.Errorf("it reports %.2000q, want %q", reports, tt.want)
			}
		})
	}
}

// checkBeam runs the checker against a Beam with a fault for a while, and returns what it reports.
func checkBeam(t *testing.T, f fault) string {
	people := make(map[string]Person)
	for _, name := range []string{"ada", photons.Approver, "eve", "olga"} {
		people[name] = Person{Name: name, Token: "token-of-" + name}
	}
	b, err := beam.New(beam.Config{Photons: photons.All(), Logger: slog.New(slog.DiscardHandler), Identify: func(r *http.Request) (beam.Caller, error) {
		for _, p := range people {
			if r.Header.Get("Authorization") == "Bearer "+p.Token {
				caller := beam.Caller{ID: p.Name, Name: p.Name}
				if p.Name == "olga" {
					caller.Roles = []string{generators.RoleOperator}
				}
				return caller, nil
			}
		}
		return beam.Caller{}, beam.ErrForbidden
	}})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(f(b))
	defer served.Close()
	defer b.Shutdown(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var reports strings.Builder
	c := New(Options{
		Base: served.URL, Owners: []Person{people["ada"]}, Approver: people[photons.Approver], Operator: people["olga"], Stranger: people["eve"], Seed: 1,
		Errorf: func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(&reports, format+"\n", args...)
			cancel() // one is enough
		},
	})
	ledger := httptest.NewServer(c)
	defer ledger.Close()
	c.Ledger = ledger.URL
	var all sync.WaitGroup
	all.Go(func() { c.Run(ctx, 12) })
	all.Go(func() { c.CheckInboxes(ctx) })
	select {
	case <-ctx.Done():
	case <-c.awaitFigures(ctx, map[string]int{"runs": 24, "lists": 10}):
	}
	c.Stop()
	all.Wait()
	if err := c.CheckEnd(ctx); err != nil && ctx.Err() == nil {
		c.Errorf("%v", err)
	}
	return reports.String()
}

// awaitFigures returns a channel that is closed when the figures are as high.
func (c *Checker) awaitFigures(ctx context.Context, figures map[string]int) chan struct{} {
	done := make(chan struct{})
	reached := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for name, want := range figures {
			if c.figures[name] < want {
				return false
			}
		}
		return true
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil && !reached() {
			time.Sleep(10 * time.Millisecond) // figures announce nothing
		}
	}()
	return done
}
