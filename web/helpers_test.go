package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// A site is a playground on a real listener.
type site struct {
	*httptest.Server
	t      testing.TB
	web    *web.Server
	engine *engine.Engine
	blobs  string // the folder
	// transport transports the requests of sessions; nil is the network.
	transport http.RoundTripper
}

func newSite(t testing.TB, token string, photons ...*generators.Photon) *site {
	t.Helper()
	return newSiteOn(t, runlog.NewMemory(), token, photons...)
}

func newSiteOn(t testing.TB, runs runlog.Log, token string, photons ...*generators.Photon) *site {
	t.Helper()
	return newLimitedSite(t, runs, engine.Limits{}, token, photons...)
}

func newLimitedSite(t testing.TB, runs runlog.Log, limits engine.Limits, token string, photons ...*generators.Photon) *site {
	t.Helper()
	return newConfiguredSite(t, runs, limits, func(c *web.Config) { c.Token = token }, photons...)
}

// newSiteWith returns a site whose configuration configure completes.
func newSiteWith(t testing.TB, configure func(*web.Config), photons ...*generators.Photon) *site {
	t.Helper()
	return newConfiguredSite(t, runlog.NewMemory(), engine.Limits{}, configure, photons...)
}

func newConfiguredSite(t testing.TB, runs runlog.Log, limits engine.Limits, configure func(*web.Config), photons ...*generators.Photon) *site {
	t.Helper()
	registry, err := registry.NewRegistry(append(shipped.Photons(), photons...)...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	engine := engine.New(engine.Options{Photons: registry, Log: runs, Blobs: blobs, Ephemeral: true, Policy: asking.Policy{OpenPerRun: 10}, Limits: limits})
	config := web.Config{Engine: engine, Photons: registry, Keys: identity.NewKeys(), Hosts: []string{"beam.test"}, SignInCommand: "beam open"}
	configure(&config)
	server, err := web.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: engine, blobs: dir}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		engine.Close(ctx)
		server.Close()
		s.Server.Close()
		blobs.Close()
	})
	return s
}

// A browserSession is a client with its own browser session.
type browserSession struct {
	*site
	client *http.Client
}

func (s *site) newSession() *browserSession {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: s.transport} // without a timeout, which would cut a stream short on a busy machine
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browserSession{site: s, client: client}
}

// request sends a request; headers are pairs of names and values.
func (p *browserSession) request(method, path, body string, headers ...string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	return res
}

func (p *browserSession) requestJSON(method, path, body string, headers ...string) *http.Response {
	p.t.Helper()
	return p.request(method, path, body, append([]string{"Content-Type", "application/json", "Accept", "application/json"}, headers...)...)
}

func readText(t testing.TB, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func decodeJSON[T any](t testing.TB, res *http.Response) (v T) {
	t.Helper()
	raw := readText(t, res)
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

type startedRun struct{ ID, URL, Events string }

// startRun starts a run and returns its URLs.
func (p *browserSession) startRun(photon, args string) startedRun {
	p.t.Helper()
	res := p.requestJSON("POST", "/photons/"+photon+"/runs", args)
	if res.StatusCode != http.StatusCreated {
		p.t.Fatalf("start: %s %s", res.Status, readText(p.t, res))
	}
	return decodeJSON[startedRun](p.t, res)
}

// An event is a server-sent event with a JSON-RPC message.
type event struct {
	id  string
	msg message
}

type message struct {
	Version string `json:"jsonrpc"`
	ID      string
	Method  string
	Params  map[string]any
	Result  map[string]any
}

// follow reads a stream until stop returns true or it ends.
func (p *browserSession) follow(path, after string, stop func(event) bool) []event {
	p.t.Helper()
	events, err := p.tryFollow(path, after, stop)
	if err != nil {
		p.t.Fatalf("the stream broke off after %d events: %v", len(events), err)
	}
	return events
}

func (p *browserSession) tryFollow(path, after string, stop func(event) bool) ([]event, error) {
	p.t.Helper()
	var headers []string
	if after != "" {
		headers = []string{"Last-Event-ID", after}
	}
	res := p.request("GET", path, "", headers...)
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("follow: %s %s", res.Status, readText(p.t, res))
	}
	defer res.Body.Close()
	return readEvents(p.t, res.Body, stop)
}

// readEvents reads a stream until stop returns true or it ends. It returns the error that
// ended it.
func readEvents(t testing.TB, r io.Reader, stop func(event) bool) (events []event, err error) {
	t.Helper()
	var e event
	data := "{}"
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && e.id != "": // what breaks off before it is no event
			if err := json.Unmarshal([]byte(data), &e.msg); err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			events = append(events, e)
			if stop != nil && stop(e) {
				return events, nil
			}
			e, data = event{}, "{}"
		}
	}
	return events, lines.Err()
}

func isElicitation(e event) bool { return e.msg.Method == "elicitation/create" }

// answerRPC sends a JSON-RPC response.
func (p *browserSession) answerRPC(id string, result any) *http.Response {
	p.t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.requestJSON("POST", "/mcp/request", string(raw))
}

func acceptResult(content string) map[string]any {
	return map[string]any{"action": "accept", "content": json.RawMessage(content)}
}

func expectStatus(t testing.TB, res *http.Response, want int) {
	t.Helper()
	if res.StatusCode != want {
		t.Errorf("%s %s: %s, want %d\n%s", res.Request.Method, res.Request.URL.Path, res.Status, want, bytes.TrimSpace([]byte(readText(t, res))))
	}
}

// must returns v. It panics if err isn't nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
