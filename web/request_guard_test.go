package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func mustMarshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	s := newSite(t, "")
	p := s.newSession()
	run := p.startRun("wizard", "{}")
	own, _ := url.Parse(s.URL)
	tests := []struct {
		name    string
		method  string
		path    string
		headers []string
		want    int
	}{
		{"a foreign host", "GET", "/", []string{"Host", "evil.example"}, 403},
		{"any host on health", "GET", "/healthz", []string{"Host", "10.1.2.3:3008"}, 200},
		{"any host on readiness", "GET", "/readyz", []string{"Host", "10.1.2.3:3008"}, 200},
		{"localhost", "GET", "/", []string{"Host", "localhost:1"}, 200},
		{"another loopback address", "GET", "/", []string{"Host", "127.0.0.2:1"}, 200},
		{"loopback, v6", "GET", "/", []string{"Host", "[::1]:3008"}, 200},
		{"an allowed host", "GET", "/", []string{"Host", "beam.test"}, 200},
		{"a host like ours", "GET", "/", []string{"Host", "localhost.evil.example"}, 403},
		{"a foreign origin posts", "POST", run.URL + "/cancel", []string{"Origin", "https://evil.example"}, 403},
		{"a null origin posts", "POST", run.URL + "/cancel", []string{"Origin", "null"}, 403},
		{"another port posts", "POST", run.URL + "/cancel", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"another scheme posts", "POST", run.URL + "/cancel", []string{"Origin", "https://" + own.Host}, 403},
		{"cross-site posts", "POST", run.URL + "/cancel", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same-site posts", "POST", run.URL + "/cancel", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a foreign origin follows", "GET", run.Events, []string{"Origin", "https://evil.example"}, 403},
		{"cross-site follows", "GET", run.Events, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a foreign origin at /mcp", "GET", "/mcp", []string{"Origin", "https://evil.example"}, 403},
		{"a link from elsewhere", "GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"our own page behind TLS posts", "POST", run.URL + "/cancel", []string{"Origin", "https://" + own.Host, "Sec-Fetch-Site", "same-origin"}, 202},
		{"our own page posts", "POST", run.URL + "/cancel", []string{"Origin", s.URL, "Sec-Fetch-Site", "same-origin"}, 202},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expectStatus(t, p.request(tt.method, tt.path, "", tt.headers...), tt.want) })
	}
}

func TestEveryResponseHasTheSecurityHeaders(t *testing.T) {
	p := newSite(t, "").newSession()
	for _, path := range []string{"/", "/runs", "/asks", "/login", "/healthz", "/nowhere", "/photons/wizard"} {
		h := p.request("GET", path, "", "Accept", "text/html").Header
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe-inline") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

func TestTheSessionCookieIsGuarded(t *testing.T) {
	s := newSite(t, "")
	res := s.newSession().request("GET", "/", "", "Accept", "text/html")
	cookies := res.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || !strings.HasPrefix(c.Name, "beam_") {
		t.Errorf("cookie: %+v", c)
	}
	forged := s.newSession()
	res = forged.request("GET", "/asks", "", "Accept", "application/json", "Cookie", c.Name+"="+c.Value[:len(c.Value)-4]+"AAAA")
	expectStatus(t, res, 200)
	if len(res.Cookies()) != 1 {
		t.Error("a forged cookie was not replaced by a new session")
	}
}

func TestAForbiddenLinkOffersSignIn(t *testing.T) {
	s := newSite(t, "")
	owner, stranger := s.newSession(), s.newSession()
	run := owner.startRun("wizard", "{}")
	received := owner.follow(run.Events, "", isElicitation)
	for _, path := range []string{run.URL, "/asks/" + received[len(received)-1].msg.ID} {
		res := stranger.request("GET", path, "", "Accept", "text/html")
		page := readText(t, res)
		if res.StatusCode != 403 || !strings.Contains(page, "To get in, run <code>beam open</code> in a terminal") || strings.Contains(page, "name?") {
			t.Errorf("%s: %s %.200s", path, res.Status, page)
		}
	}
}

func TestLinkCheckersDoNotConsumeCodes(t *testing.T) {
	s := newSite(t, "")
	path := s.web.SignInURL("")
	expectStatus(t, s.newSession().request("HEAD", path, ""), 200)
	expectStatus(t, s.newSession().request("GET", path, "", "Accept", "text/html"), http.StatusSeeOther)
	run := s.newSession()
	id := run.startRun("wizard", "{}")
	expectStatus(t, run.request("HEAD", id.Events, ""), 200) // and returns
}

func TestTheSignInAddressWorksOnce(t *testing.T) {
	s := newSite(t, "")
	path := s.web.SignInURL("")
	operator, late := s.newSession(), s.newSession()
	expectStatus(t, operator.request("GET", path, "", "Accept", "text/html"), http.StatusSeeOther)
	expectStatus(t, late.request("GET", path, "", "Accept", "text/html"), http.StatusForbidden)
	run := operator.startRun("wizard", "{}")
	expectStatus(t, operator.requestJSON("GET", run.URL, ""), 200)
	expectStatus(t, late.requestJSON("GET", run.URL, ""), 403)

	other := s.newSession()
	expectStatus(t, other.request("GET", s.web.SignInURL(""), "", "Accept", "text/html"), http.StatusSeeOther)
	expectStatus(t, other.requestJSON("GET", run.URL, ""), 200) // it is the operator's, too
}

func TestSigningInKeepsTheSession(t *testing.T) {
	s := newSite(t, "")
	p := s.newSession()
	run := p.startRun("wizard", "{}")
	expectStatus(t, p.request("GET", s.web.SignInURL(""), "", "Accept", "text/html"), http.StatusSeeOther)
	expectStatus(t, p.requestJSON("GET", run.URL, ""), 200)
}

func TestWithATokenNothingIsServedWithoutIt(t *testing.T) {
	s := newSite(t, "s3cret")
	p := s.newSession()
	expectStatus(t, p.requestJSON("GET", "/", ""), 401)
	expectStatus(t, p.requestJSON("POST", "/photons/wizard/runs", "{}"), 401)
	expectStatus(t, p.requestJSON("GET", "/", "", "Authorization", "Bearer wrong"), 401)
	res := p.request("GET", "/runs?x=1", "", "Accept", "text/html")
	expectStatus(t, res, http.StatusSeeOther)
	if to := res.Header.Get("Location"); to != "/login?next=%2Fruns%3Fx%3D1" {
		t.Errorf("sent to %s", to)
	}
	expectStatus(t, p.request("GET", "/healthz", ""), 200)

	res = p.requestJSON("POST", "/photons/wizard/runs", "{}", "Authorization", "Bearer s3cret")
	expectStatus(t, res, 201)
	if len(res.Cookies()) != 0 {
		t.Error("a bearer was given a cookie")
	}
	run := decodeJSON[startedRun](t, res)

	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	expectStatus(t, p.request("POST", "/login?next=/runs", "token=wrong", form...), 403)
	res = p.request("POST", "/login?next=/runs", "token=s3cret", form...)
	expectStatus(t, res, http.StatusSeeOther)
	if to := res.Header.Get("Location"); to != "/runs" {
		t.Errorf("sent to %s", to)
	}
	expectStatus(t, p.requestJSON("GET", run.URL, ""), 200) // the token's holder sees the token's runs
}

// foreignTargets are return paths that signing in must not redirect to.
var foreignTargets = []string{
	"https://evil.example", "//evil.example", "///evil.example", "https:evil.example", "https:/evil.example", "HTTPS://evil.example",
	`/\evil.example`, `\\evil.example`, `\/evil.example`, `/\/evil.example`, "/\t/evil.example", "/\n/evil.example", "/\r/evil.example", "\t//evil.example",
	" //evil.example", "/\x00/evil.example", "javascript:alert(1)", "data:text/html,x", "evil", "?x", "",
}

func TestSigningInRedirectsToNoOtherHost(t *testing.T) {
	s := newSite(t, "s3cret")
	for _, next := range foreignTargets {
		query := "/login?" + url.Values{"next": {next}}.Encode()
		res := s.newSession().request("POST", query, "token=s3cret", "Content-Type", "application/x-www-form-urlencoded")
		if to := res.Header.Get("Location"); to != "/" {
			t.Errorf("next=%q led to %s", next, to)
		}
		code := s.web.SignInURL("") + "&" + url.Values{"next": {next}}.Encode()
		if to := s.newSession().request("GET", code, "").Header.Get("Location"); to != "/" {
			t.Errorf("with a code, next=%q led to %s", next, to)
		}
	}
}

func TestASignInAddressRedirectsToTheRequestedPage(t *testing.T) {
	s := newSite(t, "")
	owner := s.newSession()
	run := owner.startRun("wizard", "{}")
	asked := owner.follow(run.Events, "", isElicitation)
	page := "/asks/" + asked[len(asked)-1].msg.ID

	p := s.newSession()
	expectStatus(t, p.request("GET", page, "", "Accept", "text/html"), http.StatusForbidden)
	expectStatus(t, p.request("GET", "/login?code=worn&next=/asks", "", "Accept", "text/html"), http.StatusForbidden)
	if to := p.request("GET", s.web.SignInURL("")+"&next=/asks", "").Header.Get("Location"); to != page {
		t.Errorf("the address led to %s, want %s", to, page)
	}
	if to := p.request("GET", s.web.SignInURL("")+"&next=/asks", "").Header.Get("Location"); to != "/asks" {
		t.Errorf("the second address led to %s, too", to)
	}
	// The operator may use another browser's run.
	expectStatus(t, p.request("GET", page, "", "Accept", "text/html"), http.StatusOK)
}

func TestWithATokenASignInAddressRedirectsToTheRequestedPage(t *testing.T) {
	s := newSite(t, "s3cret")
	p := s.newSession()
	expectStatus(t, p.request("GET", "/runs?state=failed", "", "Accept", "text/html"), http.StatusSeeOther)
	if to := p.request("GET", s.web.SignInURL(""), "").Header.Get("Location"); to != "/runs?state=failed" {
		t.Errorf("the address led to %s", to)
	}
}

func TestAForgedReturnPathRedirectsToNoOtherHost(t *testing.T) {
	s := newSite(t, "s3cret")
	res := s.newSession().request("GET", "/runs", "", "Accept", "text/html")
	if len(res.Cookies()) != 1 {
		t.Fatalf("%d cookies were set, want 1", len(res.Cookies()))
	}
	c := res.Cookies()[0]
	if c.Path != "/login" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 || c.MaxAge > 3600 {
		t.Errorf("the cookie is %s", c)
	}
	for _, next := range foreignTargets {
		for _, value := range []string{url.QueryEscape(next), "%zz" + next} {
			p := s.newSession()
			res := p.request("GET", s.web.SignInURL("")+"&next=/asks", "", "Cookie", c.Name+"="+strings.Map(cookieSafe, value))
			if to := res.Header.Get("Location"); to != "/asks" {
				t.Errorf("a cookie that says %q led to %s", next, to)
			}
		}
	}
	long := s.newSession().request("GET", "/runs?"+strings.Repeat("x", 5000), "", "Accept", "text/html")
	if len(long.Cookies()) != 0 {
		t.Error("a long address is kept in a cookie")
	}
}

// cookieSafe removes the characters that clients don't send in cookies.
func cookieSafe(r rune) rune {
	if r < ' ' || r == '\\' || r == ';' || r == ',' || r == '"' {
		return -1
	}
	return r
}
