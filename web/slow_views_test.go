package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// A stalledReader is a response that nobody reads until it is released.
type stalledReader struct {
	*httptest.ResponseRecorder
	reached func() // called with the first byte
	release <-chan struct{}
}

func (s *stalledReader) Write(p []byte) (int, error) {
	s.reached()
	<-s.release
	return s.ResponseRecorder.Write(p)
}

// Those who don't read their pages of tables keep nobody else from reading, and no page is so
// large that many of them would need much memory.
func TestStalledReadersOfTables(t *testing.T) {
	type input struct {
		Cell int `json:"cell"`
	}
	p := newSite(t, "", generators.New("table", func(_ context.Context, in input, yield generators.Yield) (string, error) {
		rows := [][]any{{strings.Repeat("x", in.Cell)}, {strings.Repeat("y", in.Cell)}, {strings.Repeat("z", in.Cell)}}
		yield(generators.TableOf("Numbers", generators.Table{Columns: []string{"A"}, Rows: rows}))
		return "done", nil
	}, nil)).newSession()
	run := p.startRun("table", `{"cell":1000}`)
	readText(t, p.request("GET", run.Events, ""))
	view := run.URL + "/artifacts/3/view"
	expectStatus(t, p.requestJSON("GET", view, ""), http.StatusOK)

	at, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	var reading, ended sync.WaitGroup
	for _, accept := range []string{"application/json", "text/html", "application/json", "text/html", "application/json"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", p.URL+view, nil)
		r.Header.Set("Accept", accept)
		for _, c := range p.client.Jar.Cookies(at) {
			r.AddCookie(c)
		}
		reading.Add(1)
		w := &stalledReader{httptest.NewRecorder(), sync.OnceFunc(reading.Done), release}
		ended.Go(func() { p.web.ServeHTTP(w, r) })
	}
	reading.Wait() // all of them at once, and none has read anything
	expectStatus(t, p.requestJSON("GET", view+"?sort=1", ""), http.StatusOK)
	close(release)
	ended.Wait()

	run = p.startRun("table", `{"cell":3000000}`)
	readText(t, p.request("GET", run.Events, ""))
	large := p.requestJSON("GET", run.URL+"/artifacts/3/view", "")
	expectStatus(t, large, http.StatusUnprocessableEntity)
	if text := readText(t, large); !strings.Contains(text, "more than 8 MiB") || !strings.Contains(text, "format=csv") {
		t.Errorf("a page that is too large tells %s", text)
	}
	expectStatus(t, p.request("GET", run.URL+"/artifacts/3/view?format=csv", ""), http.StatusOK)
	expectStatus(t, p.request("GET", run.URL+"/artifacts/3/view", ""), http.StatusOK)
}
