package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// newSiteBelow returns a site whose pages are below a path.
func newSiteBelow(t *testing.T, token string) *site {
	t.Helper()
	registry, err := generators.NewRegistry(shipped.Photons()...)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Ephemeral: true, Policy: ask.Policy{OpenPerRun: 10}})
	server, err := web.New(web.Config{Engine: e, Photons: registry, Keys: identity.NewKeys(), Token: token, Base: "/below"})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(http.StripPrefix("/below", server)), t: t, web: server, engine: e}
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
