package beam_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// What a test can't see is checked by its effect: a stranger must not be the operator.
func TestStrangersAreNotServed(t *testing.T) {
	b := newBeam(t, beam.Config{URL: "/tools"})
	for _, remote := range []string{"192.0.2.1:4444", "@"} {
		r := httptest.NewRequest("POST", "http://localhost/tools/mcp", strings.NewReader(`{}`))
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Config.Token") {
			t.Errorf("a request from %s: %d %s", remote, w.Code, w.Body)
		}
	}
	p := newBrowser(t, serve(t, b))
	if res, body := p.do("GET", "/tools/", "", "X-Forwarded-For", "192.0.2.1"); res.StatusCode != http.StatusForbidden {
		t.Errorf("a forwarded request: %s %s", res.Status, body)
	}
	guarded := newBrowser(t, serve(t, newBeam(t, beam.Config{Token: testToken})))
	if res, _ := guarded.do("GET", "/runs", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", res.Status)
	}
	if res, _ := guarded.do("GET", "/runs", "", "Authorization", "Bearer "+testToken, "X-Forwarded-For", "192.0.2.1"); res.StatusCode != http.StatusOK {
		t.Errorf("with the token, through a proxy: %s", res.Status)
	}
}

func TestHosts(t *testing.T) {
	p := newBrowser(t, serve(t, newBeam(t, beam.Config{Hosts: []string{"Tools.Example"}, URL: "http://other.example:8080", Token: testToken})))
	for host, want := range map[string]int{"tools.example": 200, "tools.example:81": 200, "other.example": 200, "evil.example": 403} {
		if res, _ := p.do("GET", "/", "", "Host", host, "Authorization", "Bearer "+testToken); res.StatusCode != want {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
}

// A program that knows its people decides who may use the Beam, wherever requests come
// from.
func TestIdentify(t *testing.T) {
	identify := func(r *http.Request) (beam.Caller, error) {
		switch who := r.Header.Get("X-Person"); who {
		case "":
			return beam.Caller{}, errors.New("the database is at 192.0.2.7")
		case "banned":
			return beam.Caller{}, fmt.Errorf("banned since May: %w", beam.ErrForbidden)
		case "root":
			return beam.Caller{ID: "root", Roles: []string{generators.RoleOperator}}, nil
		default:
			return beam.Caller{ID: who}, nil
		}
	}
	b := newBeam(t, beam.Config{Identify: identify, Hosts: []string{"tools.example"}, Logger: slog.New(slog.DiscardHandler)})
	if u := b.SignInURL(); u != "" {
		t.Errorf("there is a sign-in address: %s", u)
	}
	request := func(who, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "https://tools.example"+path, strings.NewReader(body)) // from elsewhere
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		r.Header.Set("X-Person", who)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if cookies := w.Result().Cookies(); len(cookies) > 0 {
			t.Errorf("%s sets the cookies %v", path, cookies)
		}
		return w
	}
	for who, want := range map[string]int{"": 401, "banned": 403, "operator": 500, "token": 500, "session:x": 500, "a\nb": 500, "ada": 200, "root": 200} {
		for _, path := range []string{"/", "/runs", "/asks"} {
			w := request(who, "GET", path, "")
			if w.Code != want || strings.Contains(w.Body.String(), "192.0.2.7") || strings.Contains(w.Body.String(), "May") {
				t.Errorf("%q: %s: %d %s", who, path, w.Code, w.Body)
			}
		}
	}
	run := request("ada", "POST", "/photons/greet/runs", "{}").Header().Get("Location")
	for who, want := range map[string]int{"ada": 200, "root": 200, "alan": 403, "": 401} {
		if w := request(who, "GET", run, ""); w.Code != want {
			t.Errorf("her run for %q: %d %s", who, w.Code, w.Body)
		}
	}
	if w := request("ada", "GET", "/metrics", ""); w.Code != http.StatusForbidden {
		t.Errorf("the metrics for who is no operator: %d", w.Code)
	}
}
