package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// A clockedBrowser sends requests to a server within a bubble, whose clock the test
// moves, and keeps one cookie as a browser does.
type clockedBrowser struct {
	t      *testing.T
	server *web.Server
	cookie *http.Cookie
	until  time.Time // the browser drops the cookie then
}

func (b *clockedBrowser) request(method, path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if b.cookie != nil && time.Now().Before(b.until) {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if strings.HasSuffix(c.Name, "_next") {
			continue
		}
		b.cookie, b.until = c, time.Now().Add(time.Duration(c.MaxAge)*time.Second)
	}
	return w
}

func (b *clockedBrowser) expect(path string, want int) (renewed bool) {
	b.t.Helper()
	w := b.request("GET", path, "")
	if w.Code != want {
		b.t.Errorf("%s: GET %s: %d, want %d", time.Now().Format(time.DateOnly), path, w.Code, want)
	}
	return len(w.Result().Cookies()) > 0
}

const day = 24 * time.Hour

// A session lasts as long as it is used within 30 days. A run that waits outlives the
// session of its owner, and the operator can then use it.
func TestSessionsLastWhileTheyAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, photons := newCallerEngine(t)
		server, err := web.New(web.Config{Engine: e, Photons: photons, Keys: identity.NewKeys()})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		b := &clockedBrowser{t: t, server: server}
		w := b.request("POST", "/photons/wizard/runs", "{}")
		run := w.Header().Get("Location")
		if w.Code != http.StatusCreated || b.cookie == nil || b.cookie.MaxAge != 30*24*60*60 {
			t.Fatalf("%d, %s, %v", w.Code, run, b.cookie)
		}
		first := *b.cookie
		if time.Sleep(23 * time.Hour); b.expect(run, http.StatusOK) {
			t.Error("a cookie that is younger than a day was renewed")
		}
		if time.Sleep(19*day + time.Hour); !b.expect(run, http.StatusOK) { // day 20
			t.Error("a cookie of 20 days was not renewed")
		}
		if b.expect(run, http.StatusOK) {
			t.Error("a renewed cookie was renewed again at once")
		}
		time.Sleep(25 * day) // day 45
		b.expect(run, http.StatusOK)
		thief := &clockedBrowser{t: t, server: server, cookie: &first, until: time.Now().Add(time.Hour)}
		thief.expect(run, http.StatusForbidden) // the first cookie expired on day 30, whatever a client does

		unused := *b.cookie
		time.Sleep(31 * day) // day 76
		b.expect(run, http.StatusForbidden)
		thief = &clockedBrowser{t: t, server: server, cookie: &unused, until: time.Now().Add(time.Hour)}
		thief.expect(run, http.StatusForbidden)

		operator := &clockedBrowser{t: t, server: server}
		if w := operator.request("GET", server.SignInURL(""), ""); w.Code != http.StatusSeeOther {
			t.Fatalf("signing in: %d", w.Code)
		}
		if w := operator.request("GET", run, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state":"waiting"`) {
			t.Errorf("the operator gets %d %s", w.Code, w.Body)
		}
		if w := operator.request("POST", run+"/adopt", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"owner":"operator"`) {
			t.Errorf("adopting the run: %d %s", w.Code, w.Body)
		}
		for range 3 { // a session of the operator lasts as well
			time.Sleep(29 * day)
			operator.expect(run, http.StatusOK)
		}
	})
}
