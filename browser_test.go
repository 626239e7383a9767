package beam_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve serves a handler over HTTP and returns its URL.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// A browser is an HTTP client that keeps cookies and follows no redirects.
type browser struct {
	*http.Client
	t   testing.TB
	url string
}

func newBrowser(t testing.TB, url string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{&http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t, url}
}

// do sends a request and returns the response with its whole body. Headers are pairs of
// names and values.
func (b *browser) do(method, path, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	res, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, string(raw)
}

// A started run is what starting a run returns.
type started struct{ ID, URL, Events string }

func (b *browser) start(path string) (run started) {
	b.t.Helper()
	res, body := b.do("POST", path, "{}", "Content-Type", "application/json")
	if err := json.Unmarshal([]byte(body), &run); err != nil || res.StatusCode != http.StatusCreated {
		b.t.Fatalf("starting a run: %s %s", res.Status, body)
	}
	return run
}

// page opens a page.
func (b *browser) page(path string) string {
	b.t.Helper()
	res, body := b.do("GET", path, "", "Accept", "text/html")
	if res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s %s", path, res.Status, body)
	}
	return body
}

// answerText answers the text that a run asks for, and waits for the run's end.
func answerText(p *browser, run started, text string) {
	p.t.Helper()
	id := openQuestion(p, run)
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"name":%q}}}`, id, text)
	if res, body := p.do("POST", strings.TrimSuffix(run.URL, "/runs/"+run.ID)+"/mcp/request", answer, "Content-Type", "application/json"); res.StatusCode != http.StatusAccepted {
		p.t.Fatalf("answering: %s %s", res.Status, body)
	}
	if _, events := p.do("GET", run.Events, ""); !strings.Contains(events, "Hello, "+text) {
		p.t.Fatalf("the run's events are %s", events)
	}
}

// openQuestion returns the id of the question that a run asks.
func openQuestion(p *browser, run started) string {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", p.url+run.Events, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := p.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	decoder := newEventDecoder(res.Body)
	for {
		var m struct{ ID, Method string }
		if err := decoder.decode(&m); err != nil {
			p.t.Fatalf("following the run: %v", err)
		}
		if m.Method == "elicitation/create" {
			return m.ID
		}
	}
}
