package web_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/identity/openid"
)

// A team is a site whose people sign in with tokens of their own.
type team struct {
	*site
	photons *registry.Registry
	file    string
	tokens  map[string]string
	audit   string
}

func newTeam(t testing.TB, keys identity.Keys, token string) *team {
	t.Helper()
	return newTeamAt(t, newCallerSite, keys, token)
}

// newTeamAt is [newTeam] with a function that makes the site.
func newTeamAt(t testing.TB, newSite func(testing.TB, *engine.Engine, *registry.Registry, web.Config) *site, keys identity.Keys, token string, proxies ...netip.Prefix) *team {
	t.Helper()
	dir := t.TempDir()
	m := &team{file: filepath.Join(dir, "users.json"), tokens: make(map[string]string), audit: filepath.Join(dir, "audit.jsonl")}
	m.edit(t, func(f *users.File) {
		for name, roles := range map[string][]string{"ada": nil, "ben": {"ops"}, "dev": {"operator"}} {
			text, hashed := users.NewToken("first", time.Now(), time.Time{})
			f.Users, m.tokens[name] = append(f.Users, &users.User{Name: name, Roles: roles, Tokens: []*users.Token{hashed}}), text
		}
	})
	store, err := users.Open(m.file, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(m.audit, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	e, photons := newCallerEngine(t)
	m.photons, m.site = photons, newSite(t, e, photons, web.Config{Keys: keys, Users: store, Token: token, Audit: log, TrustedProxies: proxies})
	go store.Watch(t.Context())
	return m
}

func (m *team) edit(t testing.TB, change func(*users.File)) {
	t.Helper()
	if err := users.Edit(m.file, func(f *users.File) error { change(f); return nil }); err != nil {
		t.Fatal(err)
	}
}

// signInAs returns a browser in which somebody has signed in.
func (m *team) signInAs(name string) *browserSession {
	m.t.Helper()
	p := m.newSession()
	res := p.postForm("/login", url.Values{"token": {m.tokens[name]}}, "Accept", "text/html")
	expectStatus(m.t, res, http.StatusSeeOther)
	return p
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// audited waits until the audit file has a text.
func (m *team) audited(want string) {
	m.t.Helper()
	m.auditedWhile(want, func() {})
}

// auditedWhile repeats what the audit file tells of, until it has a text: it leaves out
// refusals beyond ten a second.
func (m *team) auditedWhile(want string, repeat func()) {
	m.t.Helper()
	var raw []byte
	var err error
	isThere := func() bool {
		raw, err = os.ReadFile(m.audit)
		if err == nil && strings.Contains(string(raw), want) {
			return true
		}
		repeat()
		return false
	}
	if !programtest.Poll(isThere) {
		m.t.Fatalf("the audit file lacks %s: %s, %v", want, raw, err)
	}
}

// Each person has runs of their own, in browsers and programs alike; a person with the
// role operator sees all.
func TestPeopleHaveTheirOwnRuns(t *testing.T) {
	m := newTeam(t, identity.NewKeys(), "a server's token")
	ada, ben, program := m.signInAs("ada"), m.signInAs("ben"), m.newSession()
	run, askID := ada.startWaiting()
	for _, path := range []string{run.URL, "/asks/" + askID} {
		expectStatus(t, ben.requestJSON("GET", path, ""), http.StatusForbidden)
		expectStatus(t, program.requestJSON("GET", path, "", bearer(m.tokens["ada"])...), http.StatusOK)
		expectStatus(t, program.requestJSON("GET", path, "", bearer(m.tokens["dev"])...), http.StatusOK)
		expectStatus(t, program.requestJSON("GET", path, "", bearer("a server's token")...), http.StatusForbidden)
		expectStatus(t, program.requestJSON("GET", path, "", bearer(m.tokens["ada"]+"x")...), http.StatusUnauthorized)
		expectStatus(t, m.newSession().requestJSON("GET", path, ""), http.StatusUnauthorized)
		// A wrong token doesn't pass for none, even with a session.
		expectStatus(t, ada.requestJSON("GET", path, "", bearer("wrong")...), http.StatusUnauthorized)
	}
	if len(ben.listRuns()) != 0 || len(ada.listRuns()) != 1 {
		t.Error("the lists are not each person's own")
	}
	m.audited(`"kind":"signed in","caller":"user:ada"`)
	m.audited(`"kind":"sign-in refused"`)
	m.audited(`"reason":"the bearer token is nobody's"`)
	if raw, _ := os.ReadFile(m.audit); strings.Contains(string(raw), m.tokens["ada"]) {
		t.Error("the audit file has a token")
	}
}

// Revoking the token and disabling the person end streams and sessions at once, and those
// of nobody else. So does signing out everywhere, for sessions.
func TestAccessEndsAtOnce(t *testing.T) {
	for name, end := range map[string]func(m *team, p *browserSession){
		"revoked": func(m *team, _ *browserSession) {
			m.edit(m.t, func(f *users.File) { f.User("ada").Tokens = nil })
		},
		"disabled": func(m *team, _ *browserSession) {
			m.edit(m.t, func(f *users.File) { f.User("ada").Disabled = true })
		},
		"removed": func(m *team, _ *browserSession) {
			m.edit(m.t, func(f *users.File) { f.Users = f.Users[:0] })
		},
		"expired": func(m *team, _ *browserSession) {
			m.edit(m.t, func(f *users.File) { f.User("ada").Tokens[0].Expires = time.Now().Add(time.Second) })
		},
		"signed out everywhere": func(m *team, _ *browserSession) {
			elsewhere := m.signInAs("ada")
			res := elsewhere.postForm("/logout", url.Values{"everywhere": {"1"}})
			expectStatus(m.t, res, http.StatusSeeOther)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTeam(t, identity.NewKeys(), "")
			ada, ben := m.signInAs("ada"), m.signInAs("ben")
			run, _ := ada.startWaiting()
			others, _ := ben.startWaiting()
			stream := ada.request("GET", run.Events, "")
			expectStatus(t, stream, http.StatusOK)
			page := ada.request("GET", "/updates?page=runs", "", "Datastar-Request", "true")
			expectStatus(t, page, http.StatusOK)
			end(m, ada)
			for _, res := range []*http.Response{stream, page} {
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Logf("the stream ends with %v", err)
				}
			}
			expectStatus(t, ada.requestJSON("GET", run.URL, ""), http.StatusUnauthorized)
			if name != "removed" {
				expectStatus(t, ben.requestJSON("GET", others.URL, ""), http.StatusOK)
			}
			if name == "signed out everywhere" {
				expectStatus(t, m.signInAs("ada").requestJSON("GET", run.URL, ""), http.StatusOK)
				expectStatus(t, ada.requestJSON("GET", run.URL, "", bearer(m.tokens["ada"])...), http.StatusOK)
				m.audited(`"kind":"signed out everywhere","caller":"user:ada"`)
			}
		})
	}
}

// Signing out everywhere outlasts the server, and also ends copies of the cookie.
func TestSignOutEverywhereIsKept(t *testing.T) {
	store := identity.KeyStore{State: smallstate.NewMemory(), SealFile: filepath.Join(t.TempDir(), "seal")}
	load := func() identity.Keys {
		keys, err := store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	keys := load()
	e, photons := newCallerEngine(t)
	s := newCallerSite(t, e, photons, web.Config{Keys: keys, Token: "t"})
	p := s.newSession()
	p.signIn()
	expectStatus(t, p.requestJSON("GET", "/runs", ""), http.StatusOK)
	copied := p.client.Jar.Cookies(mustParse(t, s.URL))
	expectStatus(t, p.postForm("/logout", url.Values{"everywhere": {"1"}}), http.StatusSeeOther)
	for i, keys := range []identity.Keys{keys, load()} {
		again := s
		if i == 1 {
			again = newCallerSite(t, e, photons, web.Config{Keys: keys, Token: "t"})
		}
		thief := again.newSession()
		thief.client.Jar.SetCookies(mustParse(t, again.URL), copied)
		expectStatus(t, thief.requestJSON("GET", "/runs", ""), http.StatusUnauthorized)
		next := again.newSession()
		next.signIn()
		expectStatus(t, next.requestJSON("GET", "/runs", ""), http.StatusOK)
	}
}

// Signing in begins a new session: nothing of the one before, which somebody else may have
// set in the browser, says who it is afterwards. Its unfinished runs come along.
func TestSignInBeginsANewSession(t *testing.T) {
	keys := identity.NewKeys()
	m := newTeam(t, keys, "")
	open := newCallerSite(t, m.engine, m.photons, web.Config{Keys: keys}) // before people had to sign in
	attacker := open.newSession()
	run, _ := attacker.startWaiting()
	planted := attacker.client.Jar.Cookies(mustParse(t, open.URL))
	victim := m.newSession()
	victim.client.Jar.SetCookies(mustParse(t, m.URL), planted)
	res := victim.postForm("/login", url.Values{"token": {m.tokens["ada"]}}, "Accept", "text/html")
	expectStatus(t, res, http.StatusSeeOther)
	now := victim.client.Jar.Cookies(mustParse(t, m.URL))
	if fmt.Sprint(now) == fmt.Sprint(planted) {
		t.Error("the cookie is the same")
	}
	attackerAtTeam := m.newSession()
	attackerAtTeam.client.Jar.SetCookies(mustParse(t, m.URL), planted)
	expectStatus(t, attackerAtTeam.requestJSON("GET", "/runs", ""), http.StatusUnauthorized)
	expectStatus(t, victim.requestJSON("GET", run.URL, ""), http.StatusOK)

	// What the browser was before doesn't come back when the person is gone.
	shared := m.newSession()
	shared.signIn()
	expectStatus(t, shared.requestJSON("GET", run.URL, ""), http.StatusOK) // as the operator
	expectStatus(t, shared.postForm("/login", url.Values{"token": {m.tokens["ben"]}}), http.StatusSeeOther)
	expectStatus(t, shared.requestJSON("GET", run.URL, ""), http.StatusForbidden)
	m.edit(t, func(f *users.File) { f.User("ben").Disabled = true })
	expectStatus(t, shared.requestJSON("GET", run.URL, ""), http.StatusUnauthorized)
	m.edit(t, func(f *users.File) { f.User("ben").Disabled = false })

	// From one person to the next: nothing of the first remains.
	res = victim.postForm("/login", url.Values{"token": {m.tokens["ben"]}}, "Accept", "text/html")
	expectStatus(t, res, http.StatusSeeOther)
	expectStatus(t, victim.requestJSON("GET", run.URL, ""), http.StatusForbidden)
	account := readText(t, victim.request("GET", "/account", "", "Accept", "text/html"))
	if !strings.Contains(account, "user:ben") || !strings.Contains(account, "Sign out everywhere") {
		t.Error("the account page doesn't say who is signed in, or how to sign out")
	}
}

func mustParse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestRightCredentialsAreNeverLockedOut checks that whoever has a right credential gets in
// for the first time, however many wrong ones come from the same address.
func TestRightCredentialsAreNeverLockedOut(t *testing.T) {
	const long, short = "0123456789abcdef0123456789abcdef", "a token to guess"
	for _, shared := range []string{long, short} {
		synctest.Test(t, func(t *testing.T) { checkLockOut(t, shared, shared == short) })
	}
}

// checkLockOut checks who gets in to a site with a server's token, after many wrong
// credentials.
func checkLockOut(t *testing.T, shared string, isGuessable bool) {
	m := newTeamAt(t, newInProcessSite, identity.NewKeys(), shared)
	for i := range 30 {
		m.newSession().request("GET", "/runs", "", bearer(fmt.Sprint("guess-", i))...).Body.Close()
	}
	expectStatus(t, m.newSession().request("GET", "/runs", "", bearer("another guess")...), http.StatusTooManyRequests)
	expectStatus(t, m.newSession().request("GET", "/runs", "", append(bearer(m.tokens["ada"]), "Accept", "application/json")...), http.StatusOK)
	m.signInAs("ben")
	expectStatus(t, m.newSession().request("GET", m.web.SignInURL(""), "", "Accept", "text/html"), http.StatusSeeOther)
	want := http.StatusOK
	if isGuessable {
		want = http.StatusTooManyRequests // it may be a guess
	}
	expectStatus(t, m.newSession().request("GET", "/runs", "", append(bearer(shared), "Accept", "application/json")...), want)
}

// TestStreamsEndWithTheSession checks that a stream ends when an identity provider no longer
// vouches for the person who opened it, and that nobody gets in with the session then.
func TestStreamsEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, began := identity.NewKeys(), time.Now()
		e, photons := newCallerEngine(t)
		s := newInProcessSite(t, e, photons, web.Config{Keys: keys, OpenID: openid.New(openid.Config{Issuer: "https://idp.example", ClientID: "beam", Keys: keys})})
		cookie := httptest.NewRecorder()
		person := identity.Person{Caller: callers.OpenID("https://idp.example", "42", "Ada", nil), Until: began.Add(time.Hour)}
		if err := identity.NewSessions(identity.SessionConfig{Keys: keys, Persons: true}).SignInPerson(cookie, httptest.NewRequest("GET", "/", nil), person); err != nil {
			t.Fatal(err)
		}
		signedIn := []string{"Cookie", cookie.Result().Cookies()[0].String(), "Datastar-Request", "true"}
		expectStatus(t, s.newSession().request("GET", "/updates?page=runs", "", signedIn...), http.StatusOK) // until it ends
		if took := time.Since(began); took < time.Hour || took > time.Hour+time.Second {
			t.Errorf("the stream ended after %s", took)
		}
		expectStatus(t, s.newSession().request("GET", "/updates?page=runs", "", signedIn...), http.StatusUnauthorized)
	})
}
