package web_test

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// newCallerEngine returns an engine that several servers may use, one after the other.
func newCallerEngine(t testing.TB, photons ...*generators.Photon) (*engine.Engine, *registry.Registry) {
	t.Helper()
	return newEngineWith(t, func(*engine.Options) {}, photons...)
}

func newEngineWith(t testing.TB, configure func(*engine.Options), photons ...*generators.Photon) (*engine.Engine, *registry.Registry) {
	t.Helper()
	registry, err := registry.NewRegistry(append(shipped.Photons(), photons...)...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Ephemeral: true}
	configure(&o)
	e := engine.New(o)
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e.Close(ctx)
		blobs.Close()
	})
	return e, registry
}

// newCallerSite serves an engine's runs.
func newCallerSite(t testing.TB, e *engine.Engine, photons *registry.Registry, c web.Config) *site {
	t.Helper()
	s := newInProcessSite(t, e, photons, c)
	s.Server, s.transport = httptest.NewServer(s.web), nil
	t.Cleanup(func() {
		s.web.Close()
		s.Server.Close()
	})
	return s
}

// newInProcessSite serves an engine's runs without a network, so that in a bubble no time
// passes but what the test waits.
func newInProcessSite(t testing.TB, e *engine.Engine, photons *registry.Registry, c web.Config) *site {
	t.Helper()
	c.Engine, c.Photons = e, photons
	if c.Keys.ID == "" {
		c.Keys = identity.NewKeys()
	}
	server, err := web.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &site{Server: &httptest.Server{URL: "http://localhost"}, t: t, web: server, engine: e, transport: handlerTransport{server}}
}

// A handlerTransport has requests handled as if they came from this machine. A response is
// there once its handler has returned.
type handlerTransport struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	received := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.RequestURI(), r.Body)
	received.Header, received.ContentLength, received.RemoteAddr = r.Header, r.ContentLength, "127.0.0.1:1"
	received.Host = cmp.Or(r.Host, r.URL.Host)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, received)
	res := w.Result()
	res.Request = r
	return res, nil
}

// signIn signs a browser in as the operator.
func (p *browserSession) signIn() {
	p.t.Helper()
	expectStatus(p.t, p.request("GET", p.web.SignInURL(""), "", "Accept", "text/html"), http.StatusSeeOther)
}

// startWaiting starts a wizard and returns its first question.
func (p *browserSession) startWaiting(headers ...string) (run startedRun, askID string) {
	p.t.Helper()
	res := p.requestJSON("POST", "/photons/wizard/runs", "{}", headers...)
	expectStatus(p.t, res, http.StatusCreated)
	run = decodeJSON[startedRun](p.t, res)
	res = p.request("GET", run.Events, "", headers...)
	expectStatus(p.t, res, http.StatusOK)
	events, err := readEvents(p.t, res.Body, isElicitation)
	if err != nil {
		p.t.Fatal(err)
	}
	return run, events[len(events)-1].msg.ID
}

type runJSON struct{ ID, State, Owner, OwnerName string }

func (p *browserSession) listRuns(headers ...string) []runJSON {
	p.t.Helper()
	res := p.requestJSON("GET", "/runs", "", headers...)
	expectStatus(p.t, res, http.StatusOK)
	return decodeJSON[struct{ Runs []runJSON }](p.t, res).Runs
}

func TestTheOperatorUsesAllRuns(t *testing.T) {
	s := newSite(t, "")
	browser, operator := s.newSession(), s.newSession()
	run, askID := browser.startWaiting()
	if page := readText(t, browser.request("GET", run.URL, "", "Accept", "text/html")); strings.Contains(page, "/adopt") || strings.Contains(page, "/logout") {
		t.Error("a browser that has not signed in is offered to adopt its run, or to sign out")
	}
	operator.signIn()
	own := operator.startRun("wizard", "{}")
	runs := operator.listRuns()
	if len(runs) != 2 || runs[0].Owner != "operator" || !strings.HasPrefix(runs[1].Owner, "session:") || runs[1].OwnerName != "browser session" {
		t.Errorf("the operator's runs are %+v", runs)
	}
	for path, wants := range map[string]bool{run.URL: true, own.URL: false} {
		page := readText(t, operator.request("GET", path, "", "Accept", "text/html"))
		if strings.Contains(page, path+"/adopt") != wants {
			t.Errorf("%s: whether the operator is offered to adopt the run is not %v", path, wants)
		}
		if !strings.Contains(page, `action="/logout"`) {
			t.Error("the operator can't sign out")
		}
	}
	for _, path := range []string{"/runs", "/asks"} {
		if page := readText(t, operator.request("GET", path, "", "Accept", "text/html")); !strings.Contains(page, "browser session") {
			t.Errorf("%s doesn't name the owner of another's run", path)
		}
		if page := readText(t, browser.request("GET", path, "", "Accept", "text/html")); strings.Contains(page, "browser session") || strings.Contains(page, own.URL) {
			t.Errorf("%s names the owner of the caller's own run, or shows another's", path)
		}
	}
	expectStatus(t, operator.answerRPC(askID, acceptResult(`{"name":"Grace"}`)), http.StatusAccepted)
	for page := ""; !strings.Contains(page, "answered by operator over HTTP"); page = readText(t, browser.request("GET", run.URL, "", "Accept", "text/html")) {
		if strings.Contains(page, "answered") {
			t.Fatal("the owner isn't told who answered:", page)
		}
	}
	expectStatus(t, operator.request("POST", run.URL+"/cancel", ""), http.StatusAccepted)
}

// The sidebar of an error page is the caller's; where there is no caller, there is none.
func TestErrorPagesHaveNoWrongLists(t *testing.T) {
	s := newSite(t, "")
	operator := s.newSession()
	operator.signIn()
	run := operator.startRun("wizard", "{}")
	for path, wants := range map[string]bool{"/runs/none": true, "/photons/none": true, "/none": false} {
		res := operator.request("GET", path, "", "Accept", "text/html")
		expectStatus(t, res, http.StatusNotFound)
		page := readText(t, res)
		for _, part := range []string{`href="/photons/wizard"`, `href="` + run.URL + `"`, `action="/logout"`} {
			if strings.Contains(page, part) != wants {
				t.Errorf("%s: whether the page has %s is not %v", path, part, wants)
			}
		}
		if strings.Contains(page, "None yet") {
			t.Errorf("%s says that there is nothing yet", path)
		}
		if on := map[string]string{"/runs/none": "Show all runs"}[path]; !strings.Contains(page, cmp.Or(on, "Show all photons")) {
			t.Errorf("%s doesn't lead on", path)
		}
	}
	expectStatus(t, operator.request("POST", run.URL+"/cancel", ""), http.StatusAccepted)
	locked := newSite(t, "s3cret").newSession()
	if page := readText(t, locked.request("GET", "/none", "", "Accept", "text/html")); !strings.Contains(page, `<a href="/login">Sign in</a>`) {
		t.Error("an error page doesn't lead to the sign-in page who must sign in")
	}
}

// TestGuessedIDs asks for what doesn't exist, and for what is another's.
func TestGuessedIDs(t *testing.T) {
	s := newSite(t, "")
	owner, stranger := s.newSession(), s.newSession()
	run, askID := owner.startWaiting()
	paths := map[string]int{
		"GET " + run.URL:                                   http.StatusForbidden,
		"GET " + run.Events:                                http.StatusForbidden,
		"GET " + run.URL + "/artifacts/1":                  http.StatusForbidden,
		"POST " + run.URL + "/cancel":                      http.StatusForbidden,
		"GET /asks/" + askID:                               http.StatusForbidden,
		"GET /runs/" + strings.Repeat("0", 32):             http.StatusNotFound,
		"GET /asks/" + strings.Repeat("0", 32) + ".3":      http.StatusNotFound,
		"POST /runs/" + run.ID[:31] + "/cancel":            http.StatusNotFound,
		"GET /runs/" + strings.ToUpper(run.ID) + "x":       http.StatusNotFound,
		"POST /runs/" + strings.Repeat("0", 32) + "/adopt": http.StatusForbidden,
	}
	for _, request := range slices.Sorted(maps.Keys(paths)) {
		method, path, _ := strings.Cut(request, " ")
		expectStatus(t, stranger.requestJSON(method, path, ""), paths[request])
	}
	page := readText(t, stranger.request("GET", run.Events, "", "Datastar-Request", "true"))
	if !strings.Contains(page, "belongs to someone else") || strings.Contains(page, "operator") {
		t.Errorf("a page of another's run becomes %s", page)
	}
}
