package identity

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/callers"
)

// A session that its person has ended in another browser stays ended, however long its own
// browser goes on as nobody in particular.
func TestEndedSessionsStayEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions(SessionConfig{Keys: NewKeys()})
		var browser, other []*http.Cookie
		visit := func(cookies *[]*http.Cookie, do func(http.ResponseWriter, *http.Request) error) {
			t.Helper()
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			for _, c := range *cookies {
				r.AddCookie(c)
			}
			if err := do(w, r); err != nil {
				t.Fatal(err)
			}
			if set := w.Result().Cookies(); len(set) > 0 {
				*cookies = set
			}
		}
		id := func() (id string) {
			visit(&browser, func(_ http.ResponseWriter, r *http.Request) error {
				c, err := s.Authenticate(r)
				id = c.ID
				return err
			})
			return id
		}
		endAll := func(_ http.ResponseWriter, r *http.Request) error { _, err := s.SignOutEverywhere(r); return err }
		visit(&browser, s.SignInOperator)
		visit(&other, s.SignInOperator)
		time.Sleep(time.Hour)
		visit(&other, endAll)
		ended := id()
		if ended == callers.Operator().ID {
			t.Fatal("the session hasn't ended")
		}
		for range 40 {
			time.Sleep(25 * time.Hour)
			visit(&browser, s.Renew)
		}
		if err := s.signOuts.record(t.Context(), "user:somebody-else"); err != nil { // who makes the operator's be forgotten
			t.Fatal(err)
		}
		if got := id(); got != ended {
			t.Errorf("the session is of %s, was of %s", got, ended)
		}
	})
}
