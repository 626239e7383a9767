package web_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/securecookie"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// newCallerEngine returns an engine that several servers may use, one after the other.
func newCallerEngine(t testing.TB, photons ...*generators.Photon) (*engine.Engine, *generators.Registry) {
	t.Helper()
	registry, err := generators.NewRegistry(append(shipped.Photons(), photons...)...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Ephemeral: true})
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
func newCallerSite(t testing.TB, e *engine.Engine, photons *generators.Registry, c web.Config) *site {
	t.Helper()
	c.Engine, c.Photons = e, photons
	if c.Keys.ID == "" {
		c.Keys = identity.NewKeys()
	}
	server, err := web.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: e}
	t.Cleanup(func() {
		server.Close()
		s.Server.Close()
	})
	return s
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

func TestAdoptARun(t *testing.T) {
	s := newSite(t, "")
	browser, other, operator := s.newSession(), s.newSession(), s.newSession()
	run, askID := browser.startWaiting()
	operator.signIn()
	for _, p := range []*browserSession{browser, other} {
		expectStatus(t, p.requestJSON("POST", run.URL+"/adopt", ""), http.StatusForbidden)
	}
	expectStatus(t, operator.request("POST", run.URL+"/adopt", "", "Origin", "https://evil.example"), http.StatusForbidden)
	expectStatus(t, operator.requestJSON("POST", "/runs/00/adopt", ""), http.StatusNotFound)
	stream := browser.request("GET", run.Events, "")

	res := operator.requestJSON("POST", run.URL+"/adopt", "")
	if got := decodeJSON[runJSON](t, res); res.StatusCode != http.StatusOK || got.Owner != "operator" || got.State != "waiting" {
		t.Errorf("%s, %+v", res.Status, got)
	}
	if to := operator.request("POST", run.URL+"/adopt", "", "Accept", "text/html").Header.Get("Location"); to != run.URL {
		t.Errorf("the button leads to %q", to)
	}
	if rest := readText(t, stream); strings.Contains(rest, "adopted") || strings.Contains(rest, `"result"`) {
		t.Errorf("the former owner's stream ends with %s", rest)
	}
	for _, path := range []string{run.URL, run.Events, "/asks/" + askID} {
		expectStatus(t, browser.requestJSON("GET", path, ""), http.StatusForbidden)
	}
	if page := readText(t, browser.request("GET", run.Events, "", "Datastar-Request", "true")); !strings.Contains(page, "no longer yours") || strings.Contains(page, run.ID) {
		t.Errorf("the former owner's open page becomes %s", page)
	}
	expectStatus(t, browser.answerRPC(askID, acceptResult(`{"name":"Eve"}`)), http.StatusForbidden)
	expectStatus(t, browser.request("POST", "/mcp/request?ask="+askID+"&action=decline", "", "Content-Type", "application/x-www-form-urlencoded"), http.StatusForbidden)
	expectStatus(t, browser.request("POST", run.URL+"/cancel", ""), http.StatusForbidden)
	if runs := browser.listRuns(); len(runs) != 0 {
		t.Errorf("the former owner's runs are %+v", runs)
	}
	page := readText(t, operator.request("GET", run.URL, "", "Accept", "text/html"))
	if !strings.Contains(page, "adopted by operator") || strings.Contains(page, run.URL+"/adopt") {
		t.Error("the page doesn't say that the run was adopted, or offers it again")
	}
	expectStatus(t, operator.answerRPC(askID, acceptResult(`{"name":"Grace"}`)), http.StatusAccepted)
	expectStatus(t, operator.request("POST", run.URL+"/cancel", ""), http.StatusAccepted)
	ended := browser.startRun("wizard", "{}")
	expectStatus(t, browser.request("POST", ended.URL+"/cancel", ""), http.StatusAccepted)
	expectStatus(t, operator.requestJSON("POST", ended.URL+"/adopt", ""), http.StatusConflict)
}

// TestForgedCookies presents cookies that this server didn't make.
func TestForgedCookies(t *testing.T) {
	e, photons := newCallerEngine(t)
	keys := identity.NewKeys()
	for _, token := range []string{"", "s3cret"} {
		s := newCallerSite(t, e, photons, web.Config{Keys: keys, Token: token})
		victim := s.newSession()
		run, _ := victim.startWaiting("Authorization", "Bearer "+token)
		victimCaller := generators.Caller{ID: "session:x", Roles: []string{generators.RoleOperator}}
		info, err := e.Info(victimCaller, run.ID)
		if err != nil {
			t.Fatal(err)
		}
		name := "beam_" + keys.ID
		claims := map[string]any{"operator": true, "id": strings.TrimPrefix(info.Owner, "session:"), "bearer": "token", "renewed": 4e9}
		raw := mustMarshal(claims)
		other := identity.NewKeys()
		sealed := func(signing, sealing []byte) string {
			v, err := securecookie.New(signing, sealing).SetSerializer(securecookie.JSONEncoder{}).Encode(name, claims)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for what, value := range map[string]string{
			"JSON":               url.QueryEscape(string(raw)),
			"base64":             base64.URLEncoding.EncodeToString(raw),
			"other keys":         sealed(other.Signing, other.Sealing),
			"no sealing":         sealed(other.Signing, nil),
			"half of the keys":   sealed(other.Signing, keys.Sealing),
			"empty":              "",
			"too long":           strings.Repeat("A", 8<<10),
			"swapped keys":       sealed(keys.Sealing, keys.Signing),
			"another's run's id": run.ID,
		} {
			p := s.newSession()
			for path, want := range map[string]int{run.URL: http.StatusForbidden, run.URL + "/adopt": http.StatusForbidden, run.Events: http.StatusForbidden} {
				method := "GET"
				if strings.HasSuffix(path, "/adopt") {
					method = "POST"
				}
				if token != "" {
					want = http.StatusUnauthorized
				}
				res := p.requestJSON(method, path, "", "Cookie", name+"="+value)
				if res.StatusCode != want {
					t.Errorf("%s with token %q: %s is %s, want %d", what, token, path, res.Status, want)
				}
			}
		}
	}
}

// TestTokensAndOwners changes the token of a server with waiting runs.
func TestTokensAndOwners(t *testing.T) {
	e, photons := newCallerEngine(t)
	keys := identity.NewKeys()
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}

	open := newCallerSite(t, e, photons, web.Config{Keys: keys})
	browser := open.newSession()
	early, _ := browser.startWaiting()

	one := newCallerSite(t, e, photons, web.Config{Keys: keys, Token: "one"})
	script := one.newSession()
	run, _ := script.startWaiting(bearer("one")...)
	expectStatus(t, script.requestJSON("GET", run.URL, "", bearer("two")...), http.StatusUnauthorized)
	// The browser signs in, and keeps what it started.
	browser.site = one
	expectStatus(t, browser.requestJSON("GET", early.URL, ""), http.StatusUnauthorized)
	expectStatus(t, browser.request("POST", "/login", "token=two", form...), http.StatusForbidden)
	expectStatus(t, browser.request("POST", "/login", "token=one", form...), http.StatusSeeOther)
	for _, path := range []string{early.URL, run.URL} {
		expectStatus(t, browser.requestJSON("GET", path, ""), http.StatusOK)
	}

	two := newCallerSite(t, e, photons, web.Config{Keys: keys, Token: "two"})
	browser.site, script.site = two, two
	expectStatus(t, browser.requestJSON("GET", run.URL, ""), http.StatusUnauthorized) // the old token signs nobody in
	expectStatus(t, script.requestJSON("GET", run.URL, "", bearer("one")...), http.StatusUnauthorized)
	if runs := script.listRuns(bearer("two")...); len(runs) != 2 || runs[0].Owner != "token" || runs[1].Owner != "token" {
		t.Errorf("with the new token, the runs are %+v", runs)
	}
	expectStatus(t, browser.request("POST", "/login", "token=two", form...), http.StatusSeeOther)
	expectStatus(t, browser.requestJSON("GET", run.URL, ""), http.StatusOK)

	again := newCallerSite(t, e, photons, web.Config{Keys: keys})
	browser.site = again
	expectStatus(t, browser.requestJSON("GET", run.URL, ""), http.StatusForbidden)
	browser.signIn()
	if runs := browser.listRuns(); len(runs) != 2 {
		t.Errorf("without a token, the operator's runs are %+v", runs)
	}
}

func TestSignOut(t *testing.T) {
	s := newSite(t, "")
	p, browser := s.newSession(), s.newSession()
	browser.startWaiting()
	p.signIn()
	if n := len(p.listRuns()); n != 1 {
		t.Fatalf("the operator has %d runs", n)
	}
	stream := p.request("GET", "/updates?page=runs", "", "Datastar-Request", "true")
	expectStatus(t, p.request("GET", "/logout", ""), http.StatusMethodNotAllowed)
	expectStatus(t, p.request("POST", "/logout", "", "Origin", "https://evil.example"), http.StatusForbidden)
	expectStatus(t, p.request("POST", "/logout", "", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	if n := len(p.listRuns()); n != 1 {
		t.Error("another site signed the operator out")
	}
	res := p.request("POST", "/logout", "", "Accept", "text/html")
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/" || len(res.Cookies()) != 1 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%s, to %s, with %v", res.Status, res.Header.Get("Location"), res.Cookies())
	}
	replayed := s.newSession().requestJSON("GET", "/runs", "", "Cookie", cookieOf(res))
	if list := readText(t, replayed); !strings.Contains(list, `"runs":[]`) {
		t.Errorf("with the cookie of the signing out, the runs are %s", list)
	}
	if updates := readText(t, stream); !strings.Contains(updates, "_reconnecting: true") { // it ends
		t.Errorf("the page's updates end with %.200q", updates[max(0, len(updates)-200):])
	}
	if n := len(p.listRuns()); n != 0 {
		t.Errorf("after signing out, the browser lists %d runs", n)
	}
	expectStatus(t, s.newSession().request("POST", "/logout", ""), http.StatusNoContent) // of nobody in particular

	s = newSite(t, "s3cret")
	p = s.newSession()
	expectStatus(t, p.request("POST", "/login", "token=s3cret", "Content-Type", "application/x-www-form-urlencoded"), http.StatusSeeOther)
	if page := readText(t, p.request("GET", "/", "", "Accept", "text/html")); !strings.Contains(page, "Signed in as token") {
		t.Error("the page doesn't offer a token's holder to sign out")
	}
	expectStatus(t, p.requestJSON("POST", "/logout", ""), http.StatusNoContent)
	expectStatus(t, p.requestJSON("GET", "/runs", ""), http.StatusUnauthorized)
}

// people identifies the callers of a program that embeds Beam, by the header User.
func people(r *http.Request) (generators.Caller, error) {
	switch id := r.Header.Get("User"); id {
	case "":
		return generators.Caller{ID: "ada"}, errors.New("not signed in: secret cause")
	case "banned":
		return generators.Caller{}, fmt.Errorf("%w: secret cause", callers.ErrForbidden)
	case "grace":
		return generators.Caller{ID: id, Name: "Grace", Roles: []string{generators.RoleOperator}}, nil
	default:
		return generators.Caller{ID: id, Name: strings.ToUpper(id), Roles: r.Header.Values("Role")}, nil
	}
}

func TestIdentify(t *testing.T) {
	members := generators.New("members", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		c := generators.CallerOf(ctx)
		var by generators.Caller
		_, err := ask.Confirm(yield, "go", "Go?", ask.AnsweredBy(&by))
		return c.ID + " asked " + by.Name, err
	}, &generators.Options{Allow: func(c generators.Caller) error {
		if !c.HasRole("member") {
			return errors.New("members only")
		}
		return nil
	}})
	e, photons := newCallerEngine(t, members)
	s := newCallerSite(t, e, photons, web.Config{Identify: people, Token: "s3cret", Metrics: http.NotFoundHandler()})
	ada, bob, grace := []string{"User", "ada"}, []string{"User", "bob"}, []string{"User", "grace"}
	p := s.newSession()

	run, askID := p.startWaiting(ada...)
	res := p.request("GET", run.URL, "", append(ada, "Accept", "text/html")...)
	expectStatus(t, res, http.StatusOK)
	if page := readText(t, res); !strings.Contains(page, `<span class="person" title="Signed in">ADA</span>`) || strings.Contains(page, "/logout") {
		t.Error("the page doesn't say who is signed in, or offers to sign out")
	}
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"nobody", nil, 401},
		{"a bearer token", []string{"Authorization", "Bearer s3cret"}, 401},
		{"somebody banned", []string{"User", "banned"}, 403},
		{"another", bob, 403},
		{"the operator", grace, 200},
		{"the owner", ada, 200},
		{"operator", []string{"User", "operator"}, 500},
		{"token", []string{"User", "token"}, 500},
		{"a session", []string{"User", "session:abc"}, 500},
		{"an old token", []string{"User", "bearer:0011"}, 500},
		{"a long id", []string{"User", strings.Repeat("a", 257)}, 500},
		{"a role of no name", []string{"User", "eve", "Role", ""}, 500},
		{"a role like the operator's", []string{"User", "eve", "Role", "Operator"}, 403},
	} {
		for _, accept := range []string{"application/json", "text/html"} {
			res := p.request("GET", run.URL, "", append(slices.Clone(tt.headers), "Accept", accept)...)
			if body := readText(t, res); res.StatusCode != tt.want || strings.Contains(body, "secret cause") || tt.want != 200 && strings.Contains(body, `action="/login"`) {
				t.Errorf("%s, %s: %s, want %d: %.300s", tt.name, accept, res.Status, tt.want, body)
			}
			if c := res.Cookies(); len(c) != 0 {
				t.Errorf("%s got the cookies %v", tt.name, c)
			}
		}
	}
	for _, path := range []string{"/login", s.web.SignInURL("")} {
		expectStatus(t, p.request("GET", path, ""), http.StatusNotFound)
	}
	for _, path := range []string{"/login", "/logout"} {
		expectStatus(t, p.request("POST", path, "token=s3cret", "Content-Type", "application/x-www-form-urlencoded"), http.StatusNotFound)
	}
	expectStatus(t, p.request("GET", "/metrics", "", ada...), http.StatusForbidden)
	expectStatus(t, p.request("GET", "/metrics", "", grace...), http.StatusNotFound) // as the handler says
	if runs := p.listRuns(grace...); len(runs) != 1 || runs[0].Owner != "ada" || runs[0].OwnerName != "ADA" {
		t.Errorf("the operator's runs are %+v", runs)
	}
	expectStatus(t, p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+askID+`","result":{"action":"decline"}}`, bob...), http.StatusForbidden)

	// Who may not use a photon doesn't find it.
	member := append(ada, "Role", "member")
	for _, who := range [][]string{ada, grace} {
		if home := readText(t, p.request("GET", "/", "", append(who, "Accept", "text/html")...)); strings.Contains(home, "members") {
			t.Errorf("%v find the photon on the page", who)
		}
		if home := readText(t, p.request("GET", "/", "", append(who, "Accept", "application/json")...)); strings.Contains(home, "members") {
			t.Errorf("%v find the photon in the list", who)
		}
		for _, path := range []string{"/photons/members", "/photons/nothing"} {
			for _, accept := range []string{"application/json", "text/html"} {
				expectStatus(t, p.request("GET", path, "", append(who, "Accept", accept)...), http.StatusNotFound)
			}
			expectStatus(t, p.requestJSON("POST", path+"/runs", "{}", who...), http.StatusNotFound)
		}
	}
	if home := readText(t, p.request("GET", "/", "", append(member, "Accept", "text/html")...)); !strings.Contains(home, "/photons/members") {
		t.Error("a member doesn't find the photon")
	}
	res = p.requestJSON("POST", "/photons/members/runs", "{}", member...)
	expectStatus(t, res, http.StatusCreated)
	started := decodeJSON[startedRun](t, res)
	res = p.request("GET", started.Events, "", ada...) // who is a member no more, but owns the run
	expectStatus(t, res, http.StatusOK)
	events, err := readEvents(t, res.Body, isElicitation)
	if err != nil {
		t.Fatal(err)
	}
	id := events[len(events)-1].msg.ID
	expectStatus(t, p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+id+`","result":{"action":"accept","content":{"go":true}}}`, grace...), http.StatusAccepted)
	if rest := readText(t, res); !strings.Contains(rest, "ada asked Grace") {
		t.Errorf("the run's events end with %s", rest)
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
}
