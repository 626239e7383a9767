package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// newSiteBelow returns a site whose pages are below a path.
func newSiteBelow(t *testing.T, token string) *site { return newSiteAt(t, token, "/below") }

// newSiteAt returns a site that browsers reach at a URL.
func newSiteAt(t *testing.T, token, url string) *site {
	t.Helper()
	at, err := links.ParseSite(url)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := registry.NewRegistry(shipped.Photons()...)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Ephemeral: true, Policy: asking.Policy{OpenPerRun: 10}})
	server, err := web.New(web.Config{Engine: e, Photons: registry, Keys: identity.NewKeys(), Token: token, Site: at})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: e}
	t.Cleanup(func() {
		server.Close()
		s.Server.Close()
		e.Close(t.Context())
	})
	return s
}

func TestRunBelowABase(t *testing.T) {
	p := newSiteBelow(t, "").newSession()
	res := p.request("POST", "/below/photons/wizard/runs", "", "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	run := res.Header.Get("Location")
	if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(run, "/below/runs/") {
		t.Fatalf("starting a run: %s, to %q", res.Status, run)
	}
	if cookies := res.Cookies(); len(cookies) != 1 || cookies[0].Path != "/below/" {
		t.Errorf("the cookies are %v", cookies)
	}
	html := readText(t, p.request("GET", run, "", "Accept", "text/html"))
	if again := readText(t, p.request("GET", strings.TrimPrefix(run, "/below"), "", "Accept", "text/html", "Cookie", cookieOf(res))); !strings.Contains(again, run+`/events`) {
		t.Errorf("without the path, the page is %s", again)
	}
	for _, want := range []string{`src="/below/static/`, `@get(&#39;` + run + `/events`, `href="/below/runs"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the run's page lacks %s", want)
		}
	}
	if to := p.request("POST", run+"/cancel", "", "Accept", "text/html").Header.Get("Location"); to != run {
		t.Errorf("stopping the run leads to %q", to)
	}
	if events := readText(t, p.request("GET", run+"/events", "")); !strings.Contains(events, `"result"`) {
		t.Errorf("the run's events end with %q", events[max(0, len(events)-200):])
	}
}

func TestSignInBelowABase(t *testing.T) {
	s := newSiteBelow(t, "secret")
	p := s.newSession()
	res := p.request("GET", "/below/asks", "", "Accept", "text/html")
	login := "/below/login?" + url.Values{"next": {"/below/asks"}}.Encode()
	if to := res.Header.Get("Location"); to != login {
		t.Errorf("a browser that must sign in is sent to %q", to)
	}
	if cookies := res.Cookies(); len(cookies) != 1 || cookies[0].Path != "/below/login" {
		t.Errorf("the cookies are %v", cookies)
	}
	if to := p.request("GET", s.web.SignInURL("/below"), "", "Accept", "text/html").Header.Get("Location"); to != "/below/asks" {
		t.Errorf("after signing in, the browser is sent to %q", to)
	}
	if to := p.request("GET", s.web.SignInURL("/below"), "", "Accept", "text/html").Header.Get("Location"); to != "/below/" {
		t.Errorf("after signing in without a page, the browser is sent to %q", to)
	}
}

func TestSigningInLeadsToNoPageBesideTheSite(t *testing.T) {
	s := newSiteBelow(t, "secret")
	for _, next := range []string{"/", "/admin", "/belowground", "/below/../admin", "/below/%2e%2e/admin", "/below/..%2fadmin", "/admin/below/", "/%62elow/../admin"} {
		res := s.newSession().request("POST", "/below/login", url.Values{"token": {"secret"}, "next": {next}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		if to := res.Header.Get("Location"); to != "/below/" {
			t.Errorf("next=%q led to %s", next, to)
		}
	}
}

// cookieOf returns the cookies that a response sets, for a proxy that removes the path.
func cookieOf(res *http.Response) string {
	var all []string
	for _, c := range res.Cookies() {
		all = append(all, c.Name+"="+c.Value)
	}
	return strings.Join(all, "; ")
}

func TestUncleanPathsLeadToCleanOnesBelowThePath(t *testing.T) {
	p := newSiteBelow(t, "").newSession()
	for path, want := range map[string]string{
		"/below": "/below/", "/below?x=1": "/below/?x=1", "/below//runs": "/below/runs", "/below/asks/../runs?x=1": "/below/runs?x=1",
		"/below/./": "/below/", "//runs": "/below/runs", "/below//evil.example/": "/below/evil.example/",
	} {
		res := p.request("GET", path, "")
		if to := res.Header.Get("Location"); res.StatusCode != http.StatusPermanentRedirect || to != want {
			t.Errorf("%s leads to %q, with %s", path, to, res.Status)
		}
	}
	expectStatus(t, p.request("GET", "/below", "", "Host", "evil.example"), http.StatusForbidden)
	expectStatus(t, p.request("GET", "/below", "", "Via", "1.1 proxy"), http.StatusForbidden)
	expectStatus(t, p.request("GET", "/below/", ""), http.StatusOK)
	expectStatus(t, p.request("GET", "/belowground", ""), http.StatusNotFound)
	expectStatus(t, p.request("GET", "/below/static", ""), http.StatusNotFound)
	expectStatus(t, p.request("GET", "/below/asks/a%2Fb", ""), http.StatusNotFound)
}

// Another program may serve what is beside the path.
func TestRedirectsStayBelowTheSite(t *testing.T) {
	p := newSiteBelow(t, "").newSession()
	for path, want := range map[string]string{
		"/below//runs?x=1": "/below/runs?x=1", "/below/./runs": "/below/runs", "/below/x/../runs": "/below/runs", "/below/../runs": "/below/runs",
		"/below/..": "/below/", "/below//evil.example/": "/below/evil.example/", "/below//evil.example/%2e%2e": "/below/evil.example/%2e%2e",
		"//below/runs": "/below/runs", "//evil.example/runs": "/below/evil.example/runs", "//below": "/below/", "//runs": "/below/runs",
	} {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		p.web.ServeHTTP(w, r)
		if to := w.Header().Get("Location"); to != want || w.Code != http.StatusPermanentRedirect {
			t.Errorf("%s leads to %q, with %d, want %q", path, to, w.Code, want)
		}
	}
	expectStatus(t, p.request("GET", "/below/static", ""), http.StatusNotFound)
	expectStatus(t, p.request("GET", "/below/runs/%2e%2e/x", ""), http.StatusNotFound)
}

func TestPathsOfOwnPagesAreRefused(t *testing.T) {
	for _, path := range []links.Base{"/runs", "/runs/x", "/photons", "/static", "/static/x", "/mcp", "/mcp/request", "/login", "/asks", "/updates", "/healthz"} {
		_, err := web.New(web.Config{Engine: engine.New(engine.Options{Log: runlog.NewMemory()}), Keys: identity.NewKeys(), MCP: noMCP{}, Site: links.Site{Path: path}})
		if err == nil {
			t.Errorf("a site below %s is possible", path)
		}
	}
}

type noMCP struct{ web.MCPHandler }

func (noMCP) EachClient(_ generators.Caller, add func(string, string, int)) {
	add("Claude Code 2.1", "over HTTP", 1)
}

// A proxy may end TLS and change the host, and the pages' links must not.
func TestSiteBehindAProxy(t *testing.T) {
	p := newSiteAt(t, "secret", "https://tools.example/below").newSession()
	browser := []string{"Host", "tools.example", "Authorization", "Bearer secret", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"}
	request := func(method, path string, headers ...string) *http.Response {
		return p.request(method, path, "", append(headers, browser...)...)
	}
	res := request("POST", "/below/photons/kitchen_sink/runs", "Origin", "https://tools.example", "Content-Type", "application/json")
	expectStatus(t, res, http.StatusCreated)
	run := res.Header.Get("Location")
	expectStatus(t, request("POST", run+"/cancel", "Origin", "https://tools.example:8443"), http.StatusForbidden)
	expectStatus(t, request("POST", run+"/cancel", "Origin", "http://tools.example"), http.StatusForbidden)
	expectStatus(t, request("POST", run+"/cancel", "Origin", "https://other.example"), http.StatusForbidden)
	expectStatus(t, request("GET", "/below/", "Host", "other.example"), http.StatusOK) // the later Host counts
	expectStatus(t, p.request("GET", "/below/", "", "Host", "other.example", "Authorization", "Bearer secret"), http.StatusForbidden)
	expectStatus(t, p.request("POST", run+"/cancel", "", "Origin", "https://tools.example", "Authorization", "Bearer secret"), http.StatusAccepted)

	res = p.request("POST", "/below/login", "token=secret", "Content-Type", "application/x-www-form-urlencoded")
	expectStatus(t, res, http.StatusSeeOther)
	for _, c := range res.Cookies() {
		if c.Path != "/below/" && c.Path != "/below/login" || !c.Secure {
			t.Errorf("a cookie is %s", c)
		}
	}
}

// Beam can't tell who sends a request without a token, so strangers must not reach it.
func TestWithoutATokenOnlyThisMachineIsServed(t *testing.T) {
	open, guarded := newSite(t, "").newSession(), newSite(t, "secret").newSession()
	for _, header := range []string{"X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP", "Client-IP", "Fly-Client-IP", "X-Original-Host", "X_Forwarded_For",
		"X-Envoy-External-Address", "X-ProxyUser-IP", "CDN-Loop", "CF-Ray", "X-Amzn-Trace-Id", "WL-Proxy-Client-IP", "X-Vercel-Forwarded-For"} {
		for _, path := range []string{"/", "/mcp", "/healthz", "/login", "/runs"} {
			expectStatus(t, open.request("GET", path, "", header, "127.0.0.1"), http.StatusForbidden)
		}
		expectStatus(t, guarded.request("GET", "/", "", header, "192.0.2.1", "Authorization", "Bearer secret"), http.StatusOK)
	}
	res := open.request("POST", "/mcp", "{}", "Via", "1.1 proxy", "Accept", "application/json")
	if text := readText(t, res); !strings.Contains(text, "Config.Identify or Config.Token") || !strings.Contains(text, "--token") {
		t.Errorf("the error says %q", text)
	}
	for remote, want := range map[string]int{
		"127.0.0.1:5": 200, "[::1]:5": 200, "[::ffff:127.0.0.1]:5": 200, "pipe": 200,
		"192.0.2.1:5": 403, "10.0.0.2:5": 403, "[2001:db8::1]:5": 403, "@": 403, "": 403, "127.0.0.1": 403, "localhost.example:5": 403,
	} {
		r := httptest.NewRequest("GET", "http://localhost/healthz", nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		open.web.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("a request from %q: status %d, want %d", remote, w.Code, want)
		}
	}
	old := httptest.NewRequest("GET", "http://localhost/healthz", nil)
	old.RemoteAddr, old.Proto, old.ProtoMajor, old.ProtoMinor = "127.0.0.1:5", "HTTP/1.0", 1, 0 // as nginx forwards it
	w := httptest.NewRecorder()
	if open.web.ServeHTTP(w, old); w.Code != http.StatusForbidden {
		t.Errorf("a request in HTTP/1.0: status %d", w.Code)
	}
}
