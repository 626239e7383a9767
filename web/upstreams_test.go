package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web"
)

// testUpstreams are two upstreams, of which one holds a tool back.
type testUpstreams struct {
	mu   sync.Mutex
	all  []upstream.Status
	done []string // what operators did
}

var _ web.Upstreams = (*testUpstreams)(nil)

func newTestUpstreams() *testUpstreams {
	return &testUpstreams{all: []upstream.Status{
		{Name: "away", Type: "http", Address: "https://mcp.example/mcp", File: "client.json", State: upstream.Waiting, Error: "the server can't be reached", Since: time.Now()},
		{
			Name: "files", Type: "stdio", Address: "npx server", File: "upstreams.json", Own: true, State: upstream.Connected, Since: time.Now(), Version: "2025-11-25",
			Info: json.RawMessage(`{"name":"filesystem","version":"1.2"}`), Capabilities: json.RawMessage(`{"tools":{},"logging":{}}`), Instructions: "Read first.",
			Tools: []policy.ToolStatus{
				{Name: "read", Title: "Read a file", Decision: policy.Offered, Photon: "files__read"},
				{Name: "write", Decision: policy.Held, Reason: "It changed since it was accepted.", Change: &policy.Change{Digest: "d1", Since: time.Now(), Old: json.RawMessage(`{"description":"writes"}`), New: json.RawMessage(`{"description":"writes and <b>sends</b>"}`)}},
				{Name: "wipe", Decision: policy.Denied, Reason: "The lists allow and deny leave it out."},
			},
			Stderr: []upstream.Event{{Time: time.Now(), Text: "<script>starting"}},
		},
	}}
}

func (u *testUpstreams) Status() []upstream.Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.all)
}

func (u *testUpstreams) record(parts ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.done = append(u.done, strings.Join(parts, " "))
}

func (u *testUpstreams) Accept(name, tool, digest string) ([]string, error) {
	switch {
	case tool != "write":
		return nil, policy.ErrToolNotFound
	case digest != "d1":
		return nil, policy.ErrChangedAgain
	}
	u.record("accept", name, tool)
	return []string{tool}, nil
}

func (u *testUpstreams) Reconnect(name string) error {
	u.record("reconnect", name)
	return nil
}

func (u *testUpstreams) Remove(name string) error {
	if name == "away" {
		return config.ErrNotFound
	}
	u.record("remove", name)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = u.all[:1]
	return nil
}

func TestUpstreamPages(t *testing.T) {
	all := newTestUpstreams()
	p := newSiteWith(t, func(c *web.Config) { c.Upstreams = all }).newSession()
	p.signIn()
	html := func(path string) string {
		t.Helper()
		res := p.request("GET", path, "", "Accept", "text/html")
		expectStatus(t, res, http.StatusOK)
		return readText(t, res)
	}
	wantAll := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("the page lacks %q", text)
			}
		}
	}
	wantAll(html("/upstreams"), `href="/upstreams/files"`, "Connected", "1 tool · 1 held back", "the server can&#39;t be reached", "Review 1 change")
	page := html("/upstreams/files")
	wantAll(page, `href="/photons/files__read"`, "2025-11-25", "filesystem 1.2", "logging, tools", "Read first.", "leave it out", "&lt;script&gt;starting", `value="d1"`, "Reconnect", "Remove files", "sends")
	if strings.Contains(page, "<b>sends") {
		t.Error("a description is not escaped")
	}
	if page = html("/upstreams/away"); strings.Contains(page, "Remove away") {
		t.Error("an upstream of another file can be removed")
	}
	wantAll(html("/"), `href="/upstreams"`)

	got := decodeJSON[struct{ Upstreams []upstream.Status }](t, p.requestJSON("GET", "/upstreams", ""))
	if len(got.Upstreams) != 2 || got.Upstreams[1].Tools[1].Change.Digest != "d1" {
		t.Errorf("listed %+v", got)
	}
	if one := decodeJSON[upstream.Status](t, p.requestJSON("GET", "/upstreams/files", "")); one.Name != "files" {
		t.Errorf("it is %+v", one)
	}
	expectStatus(t, p.requestJSON("GET", "/upstreams/none", ""), http.StatusNotFound)
}

func TestOperateUpstreams(t *testing.T) {
	all := newTestUpstreams()
	p := newSiteWith(t, func(c *web.Config) { c.Upstreams = all }).newSession()
	p.signIn()
	post := func(path string, form url.Values, status int) string {
		t.Helper()
		res := p.request("POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
		expectStatus(t, res, status)
		return res.Header.Get("Location")
	}
	post("/upstreams/files/accept", url.Values{"tool": {"write"}, "digest": {"d1"}}, http.StatusSeeOther)
	post("/upstreams/files/accept", url.Values{"tool": {"write"}, "digest": {"d0"}}, http.StatusConflict)
	post("/upstreams/files/accept", url.Values{"tool": {"write"}}, http.StatusBadRequest)
	post("/upstreams/files/accept", url.Values{"tool": {"read"}, "digest": {"d1"}}, http.StatusNotFound)
	post("/upstreams/none/reconnect", nil, http.StatusNotFound)
	post("/upstreams/files/explode", nil, http.StatusNotFound)
	post("/upstreams/away/remove", nil, http.StatusConflict)
	if to := post("/upstreams/files/reconnect", nil, http.StatusSeeOther); to != "/upstreams/files" {
		t.Errorf("it leads to %s", to)
	}
	if to := post("/upstreams/files/remove", nil, http.StatusSeeOther); to != "/upstreams" {
		t.Errorf("it leads to %s", to)
	}
	if want := []string{"accept files write", "reconnect files", "remove files"}; !slices.Equal(all.done, want) {
		t.Errorf("done: %q, want %q", all.done, want)
	}
}

// Configuration is the operators' alone.
func TestUpstreamsAreForOperators(t *testing.T) {
	all := newTestUpstreams()
	s := newSiteWith(t, func(c *web.Config) { c.Upstreams = all })
	p := s.newSession()
	for _, path := range []string{"/upstreams", "/upstreams/files", "/updates?page=upstreams"} {
		expectStatus(t, p.requestJSON("GET", path, ""), http.StatusForbidden)
	}
	res := p.requestJSON("POST", "/upstreams/files/remove", "")
	expectStatus(t, res, http.StatusForbidden)
	if got := readText(t, res); !strings.Contains(got, "Only operators may do this.") {
		t.Error(got)
	}
	if home := readText(t, p.request("GET", "/", "", "Accept", "text/html")); strings.Contains(home, "/upstreams") {
		t.Error("the home page links to them")
	}
	if len(all.done) > 0 {
		t.Errorf("done: %q", all.done)
	}
	without := newSite(t, "").newSession()
	without.signIn()
	expectStatus(t, without.requestJSON("GET", "/upstreams", ""), http.StatusNotFound)
}

// An open page shows what changes.
func TestUpstreamPagesUpdate(t *testing.T) {
	all := newTestUpstreams()
	p := newSiteWith(t, func(c *web.Config) { c.Upstreams = all }).newSession()
	p.signIn()
	lines, leave := p.openStream("/updates?page=upstreams&upstream=files", "")
	defer leave()
	waitFor := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Errorf("the stream ended before %q", text)
	}
	waitFor("npx server")
	if err := all.Remove("files"); err != nil {
		t.Fatal(err)
	}
	waitFor("This upstream was removed")
}

// Whoever may use an upstream's tools learns that one is held back, and why; operators learn
// where they accept it. For others, there is no such tool.
func TestHeldToolsSayWhy(t *testing.T) {
	configure := func(c *web.Config) { c.Upstreams = newTestUpstreams() }
	with := newSiteWith(t, configure, serverTool(t, "files", "read", "")).newSession()
	without := newSiteWith(t, configure).newSession()
	operator := newSiteWith(t, configure).newSession()
	operator.signIn()
	const held, why, review = "files__write is held back", "It changed since it was accepted.", `href="/upstreams/files#held"`
	for _, tt := range []struct {
		who         string
		p           *browserSession
		tells, lead bool
	}{{"an operator", operator, true, true}, {"who may use the server", with, true, false}, {"who may not", without, false, false}} {
		for _, path := range []string{"/photons/files__write", "/photons/files__write/connect", "/photons/files__write/api"} {
			res := tt.p.request("GET", path, "", "Accept", "text/html")
			expectStatus(t, res, http.StatusNotFound)
			page := readText(t, res)
			if strings.Contains(page, held) != tt.tells || strings.Contains(page, why) != tt.tells || strings.Contains(page, review) != tt.lead {
				t.Errorf("%s, %s: %s", tt.who, path, textAfter(page, `id="main"`))
			}
		}
		for _, res := range []*http.Response{tt.p.requestJSON("GET", "/photons/files__write", ""), tt.p.requestJSON("POST", "/photons/files__write/runs", "{}")} {
			expectStatus(t, res, http.StatusNotFound)
			if text := readText(t, res); strings.Contains(text, why) != tt.tells {
				t.Errorf("%s: %s", tt.who, text)
			}
		}
		for _, name := range []string{"files__wipe", "files__none", "away__read"} { // denied, or unknown
			if page := readText(t, tt.p.request("GET", "/photons/"+name, "", "Accept", "text/html")); !strings.Contains(page, "There is no such photon.") {
				t.Errorf("%s, %s: %s", tt.who, name, textAfter(page, `id="main"`))
			}
		}
	}
}
