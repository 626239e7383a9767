package web_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/securecookie"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

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

// TestClientsThatWait opens pages while a run of a local client waits.
func TestClientsThatWait(t *testing.T) {
	const note = "You see only this browser’s runs."
	e, photons := newCallerEngine(t)
	open := newCallerSite(t, e, photons, web.Config{SignInCommand: "beam open"})
	locked := newCallerSite(t, e, photons, web.Config{Token: "s3cret"})
	shows := func(p *browserSession, headers ...string) bool {
		t.Helper()
		res := p.request("GET", "/asks", "", append(headers, "Accept", "text/html")...)
		expectStatus(t, res, http.StatusOK)
		page := readText(t, res)
		return strings.Contains(page, note) && strings.Contains(page, "run <code>beam open</code>")
	}
	var asked []string
	wait := func(surface string) {
		t.Helper()
		info, err := e.Start(t.Context(), callers.LocalClient(), engine.StartRequest{Photon: "wizard", Args: []byte("{}"), Surface: surface})
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, info.ID)
		for range e.Watch(t.Context(), callers.LocalClient()) {
			if must(e.CountOpenAsks(callers.LocalClient())) == len(asked) {
				return
			}
		}
	}
	browser, operator := open.newSession(), open.newSession()
	operator.signIn()
	wait("http")
	if shows(browser) {
		t.Error("a script waits, and the page speaks of an MCP client")
	}
	wait("mcp task")
	if !shows(browser) || shows(operator) {
		t.Error("only browsers that have not signed in are told")
	}
	if shows(locked.newSession(), "Authorization", "Bearer s3cret") {
		t.Error("a token's holder is told to sign in")
	}
	for _, id := range asked {
		if err := e.Cancel(t.Context(), callers.LocalClient(), id, "browser"); err != nil {
			t.Fatal(err)
		}
	}
	if shows(browser) {
		t.Error("nothing waits any more, and the page says so")
	}
}
