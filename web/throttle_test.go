package web_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// TestGuessedTokens presents many wrong tokens: few are checked, which the log says, and
// whoever had signed in before isn't affected.
func TestGuessedTokens(t *testing.T) { synctest.Test(t, checkGuessedTokens) }

func checkGuessedTokens(t *testing.T) {
	var log bytes.Buffer
	e, photons := newCallerEngine(t)
	s := newInProcessSite(t, e, photons, web.Config{Token: "the right token of it", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	p := s.newSession()
	right := []string{"Authorization", "Bearer the right token of it", "Accept", "application/json"}
	expectStatus(t, p.request("GET", "/", "", right...), http.StatusOK)
	browser := s.newSession()
	expectStatus(t, browser.request("POST", "/login", "token=the+right+token+of+it", "Content-Type", "application/x-www-form-urlencoded"), http.StatusSeeOther)
	checked := 0
	for i := range 1000 {
		var r *http.Response
		switch guess := fmt.Sprint("guess-", i); i % 3 {
		case 0:
			r = p.request("GET", "/runs", "", "Authorization", "Bearer "+guess, "X-Forwarded-For", fmt.Sprintf("10.0.0.%d", i%250))
		case 1:
			r = p.request("POST", "/login", "token="+guess, "Content-Type", "application/x-www-form-urlencoded")
		default:
			r = p.request("GET", "/login?code="+guess, "")
		}
		if r.StatusCode != http.StatusTooManyRequests {
			checked++
		} else if r.Header.Get("Retry-After") == "" {
			t.Fatal("there is no Retry-After")
		}
		r.Body.Close()
	}
	if checked != signin.MaxAttempts {
		t.Errorf("%d of 1,000 guesses were checked", checked)
	}
	if n := strings.Count(log.String(), "a wrong credential was presented"); n != checked || strings.Contains(log.String(), "guess-") {
		t.Errorf("%d guesses are in the log, want %d, without their text", n, checked)
	}
	expectStatus(t, p.request("GET", "/", "", right...), http.StatusOK)
	expectStatus(t, browser.request("GET", "/runs", ""), http.StatusOK)
	expectStatus(t, s.newSession().request("POST", "/login", "token=other", "Content-Type", "application/x-www-form-urlencoded"), http.StatusTooManyRequests)
}

// TestGuessedUserTokens guesses the tokens of users through a proxy: a guesser is known by
// the address that the trusted proxy says, whatever else was in the header.
func TestGuessedUserTokens(t *testing.T) { synctest.Test(t, checkGuessedUserTokens) }

func checkGuessedUserTokens(t *testing.T) {
	m := newTeamAt(t, newInProcessSite, identity.NewKeys(), "", netip.MustParsePrefix("127.0.0.1/32"))
	for _, from := range []string{"192.0.2.1", "192.0.2.2"} {
		p := m.newSession()
		statuses := make(map[int]int)
		for i := range 30 {
			r := p.requestJSON("GET", "/runs", "", append(bearer(fmt.Sprint("guess-", i)), "X-Forwarded-For", "198.51.100.9, "+from)...)
			statuses[r.StatusCode]++
			r.Body.Close()
		}
		if statuses[http.StatusUnauthorized] != signin.MaxAttempts || statuses[http.StatusTooManyRequests] != 30-signin.MaxAttempts {
			t.Errorf("%s: the statuses are %v", from, statuses)
		}
		m.auditedWhile(`"address":"`+from+`","by":"token","reason":"too many wrong`, func() {
			r := p.requestJSON("GET", "/runs", "", append(bearer("guess"), "X-Forwarded-For", from)...)
			r.Body.Close()
		})
	}
	// Others behind the same proxy aren't affected.
	expectStatus(t, m.newSession().requestJSON("GET", "/runs", "", append(bearer(m.tokens["ada"]), "X-Forwarded-For", "192.0.2.3")...), http.StatusOK)
	expectStatus(t, m.newSession().postForm("/login", url.Values{"token": {"x"}}, "X-Forwarded-For", "192.0.2.3"), http.StatusForbidden)
}

// TestThrottledSignInsAreAudited checks that the audit file tells of each way to guess.
func TestThrottledSignInsAreAudited(t *testing.T) {
	for by, guess := range map[string]func(*browserSession) *http.Response{
		"a bearer token": func(p *browserSession) *http.Response { return p.requestJSON("GET", "/runs", "", bearer("x")...) },
		"the form":       func(p *browserSession) *http.Response { return p.postForm("/login", url.Values{"token": {"x"}}) },
		"a link":         func(p *browserSession) *http.Response { return p.request("GET", "/login?code=x", "") },
	} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newTeamAt(t, newInProcessSite, identity.NewKeys(), "")
				p := m.newSession()
				m.auditedWhile(`"reason":"too many wrong credentials`, func() { guess(p).Body.Close() })
			})
		})
	}
}
