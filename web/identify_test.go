package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/web"
)

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
