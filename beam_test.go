package beam_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// greet asks for a name and shows what it was given.
var greet = generators.New("greet", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	name, err := ask.Text(yield, "name", "Who is there?")
	if err != nil {
		return "", err
	}
	yield(generators.File("letter.txt", "text/plain", []byte("Dear "+name)))
	return "Hello, " + name + "!", nil
}, &generators.Options{Title: "Greet", Durable: true})

// newBeam returns a Beam, which the test's end shuts down.
func newBeam(t testing.TB, c beam.Config) *beam.Beam {
	t.Helper()
	if c.Photons == nil {
		c.Photons = []*generators.Photon{greet}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	b, err := beam.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutDown(t, b) })
	return b
}

func shutDown(t testing.TB, b *beam.Beam) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := b.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

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

func TestABeamBesideAnotherHandler(t *testing.T) {
	b := newBeam(t, beam.Config{URL: "/tools"})
	mux := http.NewServeMux()
	mux.Handle("/tools/", b)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the program's own page") })
	p := newBrowser(t, serve(t, mux))
	if own := p.page("/"); own != "the program's own page" {
		t.Errorf("the other handler's page is %q", own)
	}
	run := p.start("/tools/photons/greet/runs")
	if !strings.HasPrefix(run.URL, "/tools/runs/") || !strings.HasPrefix(run.Events, run.URL+"/") {
		t.Errorf("the run is %+v", run)
	}
	openQuestion(p, run)
	if page := p.page(run.URL); !strings.Contains(page, "Who is there?") {
		t.Errorf("the run's page is %s", page)
	}
}

func TestConfigIsChecked(t *testing.T) {
	broken := generators.New("no spaces", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, nil)
	addsTool := func(s *server.MCPServer) { s.AddTool(mcp.NewTool("other"), nil) }
	data := t.TempDir()
	newBeam(t, beam.Config{Data: data})
	for name, tt := range map[string]struct {
		config beam.Config
		want   string
	}{
		"a URL with a query":    {beam.Config{URL: "https://tools.example/?x=1"}, "Config.URL"},
		"a URL without a slash": {beam.Config{URL: "tools"}, "Config.URL"},
		"a URL of its own page": {beam.Config{URL: "/runs"}, "can't be served below /runs"},
		"a host with a scheme":  {beam.Config{Hosts: []string{"https://tools.example"}}, "Config.Hosts"},
		"a public URL":          {beam.Config{URL: "https://tools.example/"}, "Config.Identify or Config.Token"},
		"a URL with a password": {beam.Config{URL: "https://ada:hunter2@tools.example/"}, "Config.URL"},
		"a negative limit":      {beam.Config{Limits: beam.Limits{KeepFor: -1}}, "Config.Limits"},
		"a missing root":        {beam.Config{Root: filepath.Join(t.TempDir(), "gone")}, "Config.Root"},
		"an invalid photon":     {beam.Config{Photons: []*generators.Photon{broken}}, "no spaces"},
		"two of a name":         {beam.Config{Photons: []*generators.Photon{greet, greet}}, "greet"},
		"a tool of mcp-go":      {beam.Config{MCP: addsTool}, `"other"`},
		"two ways to sign in":   {beam.Config{Token: "secret", Identify: func(*http.Request) (beam.Caller, error) { return beam.Caller{ID: "ada"}, nil }}, "both Identify and Token"},
		"a folder in use":       {beam.Config{Data: data}, "in use"},
	} {
		b, err := beam.New(tt.config)
		if err == nil {
			shutDown(t, b)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a test can't see is checked by its effect: a stranger must not be the operator.
func TestStrangersAreNotServed(t *testing.T) {
	b := newBeam(t, beam.Config{URL: "/tools"})
	for _, remote := range []string{"192.0.2.1:4444", "@"} {
		r := httptest.NewRequest("POST", "http://localhost/tools/mcp", strings.NewReader(`{}`))
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Config.Token") {
			t.Errorf("a request from %s: %d %s", remote, w.Code, w.Body)
		}
	}
	p := newBrowser(t, serve(t, b))
	if res, body := p.do("GET", "/tools/", "", "X-Forwarded-For", "192.0.2.1"); res.StatusCode != http.StatusForbidden {
		t.Errorf("a forwarded request: %s %s", res.Status, body)
	}
	guarded := newBrowser(t, serve(t, newBeam(t, beam.Config{Token: "secret"})))
	if res, _ := guarded.do("GET", "/runs", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", res.Status)
	}
	if res, _ := guarded.do("GET", "/runs", "", "Authorization", "Bearer secret", "X-Forwarded-For", "192.0.2.1"); res.StatusCode != http.StatusOK {
		t.Errorf("with the token, through a proxy: %s", res.Status)
	}
}

func TestHosts(t *testing.T) {
	p := newBrowser(t, serve(t, newBeam(t, beam.Config{Hosts: []string{"Tools.Example"}, URL: "http://other.example:8080", Token: "secret"})))
	for host, want := range map[string]int{"tools.example": 200, "tools.example:81": 200, "other.example": 200, "evil.example": 403} {
		if res, _ := p.do("GET", "/", "", "Host", host, "Authorization", "Bearer secret"); res.StatusCode != want {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
}

// A program that knows its people decides who may use the Beam, wherever requests come
// from.
func TestIdentify(t *testing.T) {
	identify := func(r *http.Request) (beam.Caller, error) {
		switch who := r.Header.Get("X-Person"); who {
		case "":
			return beam.Caller{}, errors.New("the database is at 192.0.2.7")
		case "banned":
			return beam.Caller{}, fmt.Errorf("banned since May: %w", beam.ErrForbidden)
		case "root":
			return beam.Caller{ID: "root", Roles: []string{generators.RoleOperator}}, nil
		default:
			return beam.Caller{ID: who}, nil
		}
	}
	b := newBeam(t, beam.Config{Identify: identify, Hosts: []string{"tools.example"}, Logger: slog.New(slog.DiscardHandler)})
	if u := b.SignInURL(); u != "" {
		t.Errorf("there is a sign-in address: %s", u)
	}
	request := func(who, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "https://tools.example"+path, strings.NewReader(body)) // from elsewhere
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		r.Header.Set("X-Person", who)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if cookies := w.Result().Cookies(); len(cookies) > 0 {
			t.Errorf("%s sets the cookies %v", path, cookies)
		}
		return w
	}
	for who, want := range map[string]int{"": 401, "banned": 403, "operator": 500, "token": 500, "session:x": 500, "a\nb": 500, "ada": 200, "root": 200} {
		for _, path := range []string{"/", "/runs", "/asks"} {
			w := request(who, "GET", path, "")
			if w.Code != want || strings.Contains(w.Body.String(), "192.0.2.7") || strings.Contains(w.Body.String(), "May") {
				t.Errorf("%q: %s: %d %s", who, path, w.Code, w.Body)
			}
		}
	}
	run := request("ada", "POST", "/photons/greet/runs", "{}").Header().Get("Location")
	for who, want := range map[string]int{"ada": 200, "root": 200, "alan": 403, "": 401} {
		if w := request(who, "GET", run, ""); w.Code != want {
			t.Errorf("her run for %q: %d %s", who, w.Code, w.Body)
		}
	}
	if w := request("ada", "GET", "/metrics", ""); w.Code != http.StatusForbidden {
		t.Errorf("the metrics for who is no operator: %d", w.Code)
	}
}

// Two Beams share neither runs nor sessions nor metrics, although browsers share cookies
// between ports.
func TestBeamsDoNotMeet(t *testing.T) {
	first, second := newBeam(t, beam.Config{URL: "/first"}), newBeam(t, beam.Config{URL: "/second"})
	mux := http.NewServeMux()
	mux.Handle("/first/", first)
	mux.Handle("/second/", second)
	p := newBrowser(t, serve(t, mux))
	run := p.start("/first/photons/greet/runs")
	p.start("/second/photons/greet/runs")
	if !strings.Contains(p.page(run.URL), "Who is there?") {
		t.Error("the second Beam took the first one's session")
	}
	if res, _ := p.do("GET", "/second/runs/"+run.ID, ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the first Beam's run at the second: %s", res.Status)
	}
	for range 2 {
		p.start("/first/photons/greet/runs")
	}
	for b, want := range map[*beam.Beam]float64{first: 3, second: 1} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(b.Collector())
		if got := waitingRuns(t, registry); got != want {
			t.Errorf("%v runs wait, want %v", got, want)
		}
	}
	both := prometheus.NewRegistry()
	for i, b := range []*beam.Beam{first, second} {
		prometheus.WrapRegistererWith(prometheus.Labels{"beam": fmt.Sprint(i)}, both).MustRegister(b.Collector())
	}
	if _, err := both.Gather(); err != nil {
		t.Error(err)
	}
}

// waitingRuns returns the number of runs that wait for an answer, once none works.
func waitingRuns(t *testing.T, g prometheus.Gatherer) float64 {
	t.Helper()
	for {
		families, err := g.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				if f.GetName() == "beam_runs" {
					counts[m.Label[0].GetValue()] = m.Gauge.GetValue()
				}
			}
		}
		if counts["running"] == 0 {
			return counts["waiting"]
		}
		runtime.Gosched()
	}
}

func TestSpansGoToTheGivenProvider(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	b := newBeam(t, beam.Config{TracerProvider: provider})
	p := newBrowser(t, serve(t, b))
	run := p.start("/photons/greet/runs")
	answerText(p, run, "Ada")
	shutDown(t, b)
	spans := map[string]sdk.ReadOnlySpan{}
	for _, s := range recorder.Ended() {
		spans[s.Name()] = s
	}
	for _, name := range []string{"run greet", "ask text", "answer"} {
		if s := spans[name]; s == nil || s.Parent().SpanID() != spans["start greet"].SpanContext().SpanID() {
			t.Errorf("%q is %v", name, s)
		}
	}
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

func TestShutdownEndsEverything(t *testing.T) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := runtime.NumGoroutine()
	for _, data := range []string{"", t.TempDir()} {
		b, err := beam.New(beam.Config{Photons: []*generators.Photon{greet}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(b)
		p := newBrowser(t, s.URL)
		run := p.start("/photons/greet/runs")
		openQuestion(p, run)
		followed := make(chan string, 1)
		go func() { _, events := p.do("GET", run.Events, ""); followed <- events }()
		in, inWriter := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- b.ServeStdio(context.Background(), in, io.Discard) }()
		fmt.Fprintln(inWriter, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)

		shutDown(t, b)
		shutDown(t, b) // again does nothing
		if err := <-served; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		inWriter.Close()
		<-followed
		if res, _ := p.do("GET", "/", ""); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after Shutdown: %s", res.Status)
		}
		if err := b.ServeStdio(context.Background(), strings.NewReader(""), io.Discard); err == nil {
			t.Error("ServeStdio serves after Shutdown")
		}
		p.CloseIdleConnections()
		s.Close()
		if data != "" {
			continueRun(t, data, p, run)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			buf := make([]byte, 1<<20)
			stacks.Write(buf[:runtime.Stack(buf, true)])
			t.Fatalf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, &stacks)
		}
	}
}

// continueRun opens a Beam on the folder of an earlier one, and answers a run's question as
// the browser that started it.
func continueRun(t *testing.T, data string, p *browser, run started) {
	t.Helper()
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{greet}, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	defer shutDown(t, b)
	s := httptest.NewServer(b)
	defer s.Close()
	defer p.CloseIdleConnections()
	p.url = s.URL
	answerText(p, run, "Ada")
}

// Shutdown waits for what works, at most until its context ends.
func TestShutdownIsBounded(t *testing.T) {
	var once sync.Once
	working, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	busy := generators.New("busy", func(ctx context.Context, _ struct{}, _ generators.Yield) (string, error) {
		once.Do(func() { close(working) })
		select {
		case <-ctx.Done():
		case <-release:
		}
		return "", ctx.Err()
	}, nil)
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{busy}})
	if err != nil {
		t.Fatal(err)
	}
	newBrowser(t, serve(t, b)).start("/photons/busy/runs")
	<-working
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Shutdown took %s", took)
	}
}
